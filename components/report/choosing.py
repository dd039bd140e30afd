"""Which examples are worth a look: the best, the worst, and some as they come."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pairloom.components.metrics import get_metric, metric_takes
from pairloom.components.metrics.answers import answer_and_references

__all__ = ["choose", "choose_metric", "measure"]

SHOWN = 4


JUDGED = ("likelihood", "alignment")
"""What metrics take that is none of the answers, and that the signature `evaluate` tells."""


def choose_metric(metrics: Mapping[str, str], answers: bool) -> str:
    """The shown name of the metric that examples are ranked by; empty: none fits.

    Args:
        metrics: The recipe's, shown name to id.
        answers: Whether answers are there to be scored; else only what `evaluate` tells is.
    """
    fit = {name: metric_takes(metric) not in JUDGED for name, metric in metrics.items()}
    wanted = (True, False) if answers else (False,)
    return next((name for want in wanted for name in fit if fit[name] == want), "")


def measure(
    metric: str, output: str, outputs: Mapping[str, Any], references: Sequence[np.ndarray]
) -> float:
    """The score of one example.

    Args:
        metric: A metric's id.
        output: The output field's name.
        outputs: What the model told of the example, by name.
        references: The right answers.
    """
    found = get_metric(metric)
    label = np.stack(references) if found.takes == "numbers" else np.array(references, object)
    answer, right = answer_and_references(found.takes, output, outputs, label)
    return float(found.score(found.counts(answer, right)))


def choose(
    scores: Sequence[float] | None,
    count: int,
    higher_is_better: bool = True,
    most: int = SHOWN,
    seed: int = 1,
) -> dict[str, list[int]]:
    """Rows by why they are shown, none of them twice.

    >>> choose([5.0, 9.0, 1.0], 3, most=1)
    {'best': [1], 'worst': [2], 'random': [0]}

    Args:
        scores: A score for each row; None: they have none, and are drawn.
        count: How many rows there are.
        higher_is_better: How the scores are read.
        most: Rows of one sort.
        seed: For those that are drawn.
    """
    draw = random.Random(seed)
    if scores is None:
        return {"random": sorted(draw.sample(range(count), min(3 * most, count)))}
    sign = -1 if higher_is_better else 1
    ordered = sorted(range(count), key=lambda row: (sign * scores[row], row))
    some = min(most, -(-count // 3))
    best, left = ordered[:some], ordered[some:]
    worst = left[::-1][:some]
    left = left[: len(left) - len(worst)]
    drawn = sorted(draw.sample(left, min(some, len(left))))
    return {"best": best, "worst": worst, "random": drawn}
