"""Finds a metric by its id, and scores a corpus in one call."""

import difflib
import functools
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairloom.components.metrics.summable import SummableMetric

# By name, not by class: a recipe is checked against the ids in no time, without sacreBLEU.
_CLASSES = {
    "bleu": "bleu.Bleu",
    "chrf": "chrf.Chrf",
    "ter": "ter.Ter",
    "token_error_rate": "token_error_rate.TokenErrorRate",
    "sequence_error_rate": "whole_answer.SequenceErrorRate",
    "exact_match": "whole_answer.ExactMatch",
}


def metric_ids() -> tuple[str, ...]:
    """The ids that `get_metric` knows."""
    return tuple(_CLASSES)


@functools.cache
def get_metric(metric_id: str) -> "SummableMetric":
    """Returns the metric called `metric_id`, the same object every time."""
    if metric_id not in _CLASSES:
        near = difflib.get_close_matches(metric_id, _CLASSES, 1)
        raise ValueError(
            f"A metric must be one of {', '.join(_CLASSES)}. Received: {metric_id!r}."
            + (f" Did you mean {near[0]!r}?" if near else "")
        )
    module, name = _CLASSES[metric_id].split(".")
    found: SummableMetric = getattr(
        importlib.import_module(f"pairloom.components.metrics.{module}"), name
    )()
    return found


def corpus_score(metric_id: str, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Scores a whole corpus.

    >>> corpus_score("token_error_rate", ["K AE T", "D AO"], ["K AE T", "D AO G"])
    16.666666666666668

    Args:
        metric_id: One of `metric_ids()`.
        hypotheses: The answers.
        references: As many right ones, in the same order.

    Returns:
        The score in percent; of an empty corpus, 0.
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            "There must be as many hypotheses as references. "
            f"Received: {len(hypotheses)} hypotheses, {len(references)} references."
        )
    metric = get_metric(metric_id)
    total = metric.zero()
    for hypothesis, reference in zip(hypotheses, references):
        total += metric.counts(hypothesis, reference)
    return metric.score(total)
