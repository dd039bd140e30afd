"""Scores: how well each memory position answers a query."""

from collections.abc import Callable

import keras

from pairloom.models.scores.additive import AdditiveScore
from pairloom.models.scores.cosine import CosineScore
from pairloom.models.scores.dot import DotScore
from pairloom.models.scores.general import GeneralScore
from pairloom.models.scores.location import LocationScore
from pairloom.models.scores.scaled_dot import ScaledDotScore

# Each made from the width of the queries, and what every Keras layer takes.
SCORES: dict[str, Callable[..., keras.layers.Layer]] = {
    "additive": AdditiveScore,
    "cosine": lambda units, **kwargs: CosineScore(**kwargs),
    "dot": lambda units, **kwargs: DotScore(**kwargs),
    "general": lambda units, **kwargs: GeneralScore(**kwargs),
    "location": lambda units, **kwargs: LocationScore(**kwargs),
    "scaled_dot": ScaledDotScore,
}

__all__ = [
    "SCORES",
    "AdditiveScore",
    "CosineScore",
    "DotScore",
    "GeneralScore",
    "LocationScore",
    "ScaledDotScore",
    "make_score",
]


def make_score(name: str, units: int, **kwargs) -> keras.layers.Layer:
    """The score of that name, as recipes write it."""
    if name not in SCORES:
        raise ValueError(f"`score` must be one of {sorted(SCORES)}. Received: score={name!r}.")
    return SCORES[name](units, **kwargs)
