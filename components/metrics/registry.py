"""Finds a metric by its id, and scores a corpus in one call."""

import difflib
import functools
import importlib
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairloom.components.metrics.summable import SummableMetric

# What each takes, and its class by name: a recipe is checked in no time, without sacreBLEU.
_METRICS = {
    "bleu": ("text", "bleu.Bleu"),
    "bleu_1": ("text", "bleu.Bleu1"),
    "bleu_2": ("text", "bleu.Bleu2"),
    "bleu_3": ("text", "bleu.Bleu3"),
    "bleu_char": ("text", "bleu.BleuOfCharacters"),
    "bleu_zh": ("text", "bleu.BleuOfChinese"),
    "bleu_ja_mecab": ("text", "bleu.BleuOfJapanese"),
    "bleu_intl": ("text", "bleu.BleuInternational"),
    "bleu_none": ("text", "bleu.BleuAsCut"),
    "chrf": ("text", "chrf.Chrf"),
    "ter": ("text", "ter.Ter"),
    "rouge_1": ("text", "rouge.Rouge1"),
    "rouge_2": ("text", "rouge.Rouge2"),
    "rouge_l": ("text", "rouge.RougeL"),
    "token_error_rate": ("text", "error_rates.TokenErrorRate"),
    "character_error_rate": ("text", "error_rates.CharacterErrorRate"),
    "sequence_error_rate": ("text", "whole_answer.SequenceErrorRate"),
    "exact_match": ("text", "whole_answer.ExactMatch"),
    "distinct_1": ("text", "distinct.Distinct1"),
    "distinct_2": ("text", "distinct.Distinct2"),
    "accuracy": ("label", "whole_answer.Accuracy"),
    "macro_f1": ("label", "macro_f1.MacroF1"),
    "mse": ("numbers", "mse.MeanSquaredError"),
    "perplexity": ("likelihood", "likelihood.Perplexity"),
    "bits_per_character": ("likelihood", "likelihood.BitsPerCharacter"),
    "next_token_accuracy": ("likelihood", "likelihood.NextTokenAccuracy"),
    "alignment_error_rate": ("alignment", "alignment.AlignmentErrorRate"),
}

# What some need that does not come along: a module, and what has it.
_NEEDED = {"bleu_ja_mecab": ("MeCab", "sacrebleu[ja]")}


def metric_ids() -> tuple[str, ...]:
    """The ids that `get_metric` knows."""
    return tuple(_METRICS)


def metric_takes(metric_id: str) -> str:
    """What answers a metric scores, known without importing it.

    Returns:
        `text`, `label`, `numbers`, `likelihood`: how probable the model finds the reference, or
        `alignment`: where it looks while it reads the reference.
    """
    return _find(metric_id)[0]


def missing_package(metric_id: str) -> str:
    """What must be installed before a metric can be computed here; empty: nothing."""
    module, package = _NEEDED.get(metric_id, ("", ""))
    return package if module and importlib.util.find_spec(module) is None else ""


@functools.cache
def get_metric(metric_id: str) -> "SummableMetric":
    """Returns the metric called `metric_id`, the same object every time."""
    module, name = _find(metric_id)[1].split(".")
    found: SummableMetric = getattr(
        importlib.import_module(f"pairloom.components.metrics.{module}"), name
    )()
    return found


def corpus_score(metric_id: str, hypotheses: Sequence[Any], references: Sequence[Any]) -> float:
    """Scores a whole corpus.

    >>> corpus_score("token_error_rate", ["K AE T", "D AO"], ["K AE T", "D AO G"])
    16.666666666666668
    >>> corpus_score("exact_match", ["grey"], [["gray", "grey"]])
    100.0

    Args:
        metric_id: One of `metric_ids()`.
        hypotheses: The answers.
        references: As many right ones, in the same order; where an input has several, a list.

    Returns:
        The score, of an empty corpus 0.
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            "There must be as many hypotheses as references. "
            f"Received: {len(hypotheses)} hypotheses, {len(references)} references."
        )
    metric = get_metric(metric_id)
    total = metric.zero()
    for hypothesis, reference in zip(hypotheses, references):
        several = reference if isinstance(reference, (list, tuple)) else [reference]
        total = metric.add(total, metric.counts(hypothesis, several))
    return metric.score(total)


def _find(metric_id: str) -> tuple[str, str]:
    if metric_id not in _METRICS:
        near = difflib.get_close_matches(metric_id, _METRICS, 1)
        raise ValueError(
            f"A metric must be one of {', '.join(_METRICS)}. Received: {metric_id!r}."
            + (f" Did you mean {near[0]!r}?" if near else "")
        )
    return _METRICS[metric_id]
