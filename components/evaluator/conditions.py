"""The conditions of the blessing, and what became of them, in words."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_DECIMALS = 9


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
    """Writes two numbers with one decimal, or with as many as show what they are and differ in.

    >>> distinct(7.24, 10), distinct(9.96, 10), distinct(0.00312, 0.05)
    (('7.2', '10.0'), ('9.96', '10.00'), ('0.0031', '0.0500'))
    """
    sizes = [abs(number) for number in (left, right) if number and math.isfinite(number)]
    # Two digits of the smaller one, where it has none before the point.
    first = max(1, 1 - math.floor(math.log10(min(sizes)))) if sizes and min(sizes) < 1 else 1
    if first > _DECIMALS or max(sizes, default=0) >= 1e15:
        return f"{left:.6g}", f"{right:.6g}"
    for digits in range(first, _DECIMALS + 1):
        shown = f"{left:.{digits}f}", f"{right:.{digits}f}"
        if left == right or shown[0] != shown[1]:
            break
    return shown
