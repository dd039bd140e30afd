"""Attention modes: what is made of the scores."""

from collections.abc import Callable

import keras

from pairloom.models.attention.hard import HardAttention
from pairloom.models.attention.local import LocalAttention
from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.mode import AttentionMode
from pairloom.models.attention.multi_head import MultiHeadAttention
from pairloom.models.attention.pooling import AttentionPooling
from pairloom.models.attention.soft import SoftAttention

# Each made from a score, its width, the window's reach and the number of heads.
MODES: dict[str, Callable[[keras.layers.Layer, int, int, int], AttentionMode]] = {
    "hard": lambda score, *_: HardAttention(score),
    "local_m": lambda score, units, window, heads: LocalAttention(score, window),
    "local_p": lambda score, units, window, heads: LocalAttention(score, window, predictive=True),
    "multi_head": lambda score, units, window, heads: MultiHeadAttention(heads, units),
    "soft": lambda score, *_: SoftAttention(score),
    "straight_through": lambda score, units, window, heads: HardAttention(
        score, "straight_through"
    ),
}

__all__ = [
    "MODES",
    "AttentionMode",
    "AttentionPooling",
    "HardAttention",
    "LocalAttention",
    "MultiHeadAttention",
    "SoftAttention",
    "make_attention",
    "masked_softmax",
]


def make_attention(
    mode: str, score: keras.layers.Layer, units: int, window: int = 10, heads: int = 4
) -> AttentionMode:
    """The mode of that name, as recipes write it; `multi_head` has a score of its own."""
    if mode not in MODES:
        raise ValueError(f"`mode` must be one of {sorted(MODES)}. Received: mode={mode!r}.")
    return MODES[mode](score, units, window, heads)
