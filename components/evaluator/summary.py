"""What an evaluation found, as plain values: for the terminal, the report and the list of runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pairloom.components.evaluator.conditions import Outcome, outcomes
from pairloom.components.evaluator.records import read_messages, read_text

_BASELINE = "baseline"
_COUNT = "example_count"


@dataclass(frozen=True)
class SliceScores:
    """The scores of some examples.

    Attributes:
        label: The length bucket, see `bucket_labels`; "" for all examples.
        examples: How many there are.
        scores: The model's, by the names and in the order of the recipe.
        baseline: The blessed model's on the same examples; empty if there was none.
    """

    label: str = ""
    examples: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)
    baseline: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class EvaluationSummary:
    """An evaluation.

    Attributes:
        metrics: Metric ids by shown name, in the order of the recipe.
        overall: Scores of all examples.
        by_length: Scores of each length bucket that has examples, short to long.
        blessed: Whether the model may be pushed.
        reasons: Why: the conditions that were met if it was blessed, those that failed if not.
        several_references: Whether examples of equal inputs were one with several right answers.
    """

    metrics: Mapping[str, str]
    overall: SliceScores
    by_length: tuple[SliceScores, ...]
    blessed: bool
    reasons: tuple[str, ...]
    several_references: bool = False


def read_evaluation(evaluation_uri: str) -> EvaluationSummary:
    """Reads what TFX's Evaluator wrote, with a config of `build_eval_config`.

    Args:
        evaluation_uri: Where Evaluator's output `evaluation` is.

    Raises:
        FileNotFoundError: Nothing was evaluated there.
    """
    try:
        config = json.loads(read_text(evaluation_uri, "eval_config.json"))["evalConfig"]
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"An evaluation must have an eval_config.json. Received: {evaluation_uri}, which has "
            "none: Evaluator has not run there, or did not finish."
        ) from error
    configs = [metric for spec in config["metricsSpecs"] for metric in spec["metrics"]]
    settings = [json.loads(metric["config"]) for metric in configs]
    metrics = {item["name"]: item["metric"] for item in settings if "metric" in item}
    overall, differences = SliceScores(), {}
    by_length = []
    for message in read_messages(evaluation_uri, "metrics", "MetricsForSlice"):
        found = _slice_scores(message, metrics)
        if found.label:
            by_length.append(found)
        else:
            overall, differences = found, _values(message)["difference"]
    verdicts = read_messages(evaluation_uri, "validations", "ValidationResult")
    blessed = bool(verdicts) and all(verdict.validation_ok for verdict in verdicts)
    names = [item["name"] for item in settings]
    judged = outcomes(configs, names, overall.scores, overall.baseline, differences)
    return EvaluationSummary(
        metrics=metrics,
        overall=overall,
        by_length=tuple(sorted(by_length, key=lambda found: found.label)),
        blessed=blessed,
        reasons=_reasons(blessed, overall, judged),
        several_references=any(item.get("group_by") for item in settings),
    )


def _slice_scores(message: Any, metrics: Mapping[str, str]) -> SliceScores:
    values = _values(message)
    keys = message.slice_key.single_slice_keys
    return SliceScores(
        label=keys[0].bytes_value.decode() if keys else "",
        examples=round(values["candidate"].get(_COUNT, 0)),
        scores={name: values["candidate"][name] for name in metrics if name in values["candidate"]},
        baseline={name: values[_BASELINE][name] for name in metrics if name in values[_BASELINE]},
    )


def _values(message: Any) -> dict[str, dict[str, float]]:
    """Values of a slice by whose they are: the candidate's, the baseline's, or the difference."""
    values: dict[str, dict[str, float]] = {"candidate": {}, _BASELINE: {}, "difference": {}}
    for item in message.metric_keys_and_values:
        whose = "difference" if item.key.is_diff else item.key.model_name or "candidate"
        values[whose][item.key.name] = item.value.double_value.value
    return values


def _reasons(blessed: bool, overall: SliceScores, judged: list[Outcome]) -> tuple[str, ...]:
    if not overall.examples:
        return ("no example was evaluated: the split is empty",)
    sentences = tuple(outcome.sentence for outcome in judged if outcome.met == blessed)
    if sentences:
        return sentences
    if not blessed:
        return ("Evaluator found no valid score",)
    if overall.baseline:
        return ("the recipe sets no condition",)
    return ("the recipe sets no threshold, and there is no blessed model to compare with",)
