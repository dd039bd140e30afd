"""Losses.

All but `projected_cross_entropy` run on every backend of Keras; TensorFlow is not imported before
that one is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pairloom.models.losses.attention import doubly_stochastic, supervised_attention
from pairloom.models.losses.cross_entropy import masked_cross_entropy
from pairloom.models.losses.reinforce import Reinforce

if TYPE_CHECKING:
    from pairloom.models.losses.tensorflow_cross_entropy import projected_cross_entropy

__all__ = [
    "Reinforce",
    "doubly_stochastic",
    "masked_cross_entropy",
    "projected_cross_entropy",
    "supervised_attention",
]


def __getattr__(name: str) -> Any:
    if name != "projected_cross_entropy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("pairloom.models.losses.tensorflow_cross_entropy").projected_cross_entropy
