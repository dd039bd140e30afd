"""Scores: how well each memory position answers a query."""

from collections.abc import Callable

import keras

from pairloom.models.scores.additive import AdditiveScore
from pairloom.models.scores.general import GeneralScore

SCORES: dict[str, Callable[[int], keras.layers.Layer]] = {
    "additive": AdditiveScore,
    "general": lambda units: GeneralScore(),
}

__all__ = ["SCORES", "AdditiveScore", "GeneralScore", "make_score"]


def make_score(name: str, units: int) -> keras.layers.Layer:
    """The score of that name, as recipes write it."""
    if name not in SCORES:
        raise ValueError(f"`score` must be one of {sorted(SCORES)}. Received: score={name!r}.")
    return SCORES[name](units)
