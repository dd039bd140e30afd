"""The conditions of the blessing, and what became of them, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """One condition: whether it was met, and a sentence that says so with its numbers."""

    met: bool
    sentence: str


def outcomes(
    metric_configs: list[Mapping[str, Any]],
    names: list[str],
    scores: Mapping[str, float],
    baseline: Mapping[str, float],
    differences: Mapping[str, float],
) -> list[Outcome]:
    """Judges every condition of an EvalConfig, in the config's order.

    Args:
        metric_configs: TFMA's MetricConfig messages in their JSON form.
        names: Their shown names.
        scores: The model's scores of the whole corpus, by shown name.
        baseline: The blessed model's; empty if there is none.
        differences: Score minus baseline, as TFMA subtracted them.
    """
    found: list[Outcome] = []
    for name, config in zip(names, metric_configs):
        if name not in scores:
            continue
        for condition in config.get("perSliceThresholds", []):
            threshold = condition.get("threshold", {})
            found += _bounds(name, scores[name], threshold.get("valueThreshold", {}))
            # TFX drops the change threshold where there is no blessed model.
            if change := threshold.get("changeThreshold"):
                found.append(_change(name, scores[name], baseline[name], differences[name], change))
    return found


def _bounds(name: str, score: float, threshold: Mapping[str, Any]) -> Iterator[Outcome]:
    if "lowerBound" in threshold:
        bound = float(threshold["lowerBound"])
        met = score >= bound
        shown, limit = distinct(score, bound)
        # Every score is at least 0: that condition only stands in for none.
        if bound or not met:
            relation = "is at least" if met else "is below"
            yield Outcome(met, f"{name} {shown} {relation} the threshold {limit}")
    if "upperBound" in threshold:
        bound = float(threshold["upperBound"])
        met = score <= bound
        shown, limit = distinct(score, bound)
        relation = "is at most" if met else "is above"
        yield Outcome(met, f"{name} {shown} {relation} the threshold {limit}")


def _change(
    name: str, score: float, baseline: float, difference: float, change: Mapping[str, Any]
) -> Outcome:
    bound = float(change.get("absolute", 0.0))
    higher_is_better = change["direction"] == "HIGHER_IS_BETTER"
    met = difference >= bound if higher_is_better else difference <= bound
    shown, before = distinct(score, baseline)
    if not met:
        moved, side = ("fell", "below") if higher_is_better else ("rose", "above")
        far = f" by more than {abs(bound):g}" if bound else ""
        return Outcome(False, f"{name} {shown} {moved}{far} {side} the blessed model's {before}")
    if difference == 0:
        return Outcome(True, f"{name} {shown} equals the blessed model's")
    better = (difference > 0) == higher_is_better
    if better:
        return Outcome(True, f"{name} {shown} is better than the blessed model's {before}")
    return Outcome(True, f"{name} {shown} is within {abs(bound):g} of the blessed model's {before}")


def distinct(left: float, right: float) -> tuple[str, str]:
    """Writes two numbers with one decimal, or with as many as show that they differ.

    >>> distinct(7.24, 10), distinct(9.96, 10)
    (('7.2', '10.0'), ('9.96', '10.00'))
    """
    for digits in range(1, 7):
        shown = f"{left:.{digits}f}", f"{right:.{digits}f}"
        if left == right or shown[0] != shown[1]:
            break
    return shown
