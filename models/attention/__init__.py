"""Attention modes: what is made of the scores."""

from collections.abc import Callable

import keras

from pairloom.models.attention.hard import HardAttention
from pairloom.models.attention.local import LocalAttention
from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.pooling import AttentionPooling
from pairloom.models.attention.soft import SoftAttention

# Each made from a score and the window's reach.
MODES: dict[str, Callable[[keras.layers.Layer, int], keras.layers.Layer]] = {
    "hard": lambda score, window: HardAttention(score),
    "local_m": LocalAttention,
    "local_p": lambda score, window: LocalAttention(score, window, predictive=True),
    "soft": lambda score, window: SoftAttention(score),
    "straight_through": lambda score, window: HardAttention(score, "straight_through"),
}

__all__ = [
    "MODES",
    "AttentionPooling",
    "HardAttention",
    "LocalAttention",
    "SoftAttention",
    "make_attention",
    "masked_softmax",
]


def make_attention(mode: str, score: keras.layers.Layer, window: int = 10) -> keras.layers.Layer:
    """The mode of that name, as recipes write it."""
    if mode not in MODES:
        raise ValueError(f"`mode` must be one of {sorted(MODES)}. Received: mode={mode!r}.")
    return MODES[mode](score, window)
