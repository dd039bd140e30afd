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

# Each made from a score, its width, the window's reach and the number of heads, and what every
# Keras layer takes.
MODES: dict[str, Callable[..., AttentionMode]] = {
    "hard": lambda score, units, window, heads, **kwargs: HardAttention(score, **kwargs),
    "local_m": lambda score, units, window, heads, **kwargs: LocalAttention(
        score, window, **kwargs
    ),
    "local_p": lambda score, units, window, heads, **kwargs: LocalAttention(
        score, window, predictive=True, **kwargs
    ),
    "multi_head": lambda score, units, window, heads, **kwargs: MultiHeadAttention(
        heads, units, **kwargs
    ),
    "soft": lambda score, units, window, heads, **kwargs: SoftAttention(score, **kwargs),
    "straight_through": lambda score, units, window, heads, **kwargs: HardAttention(
        score, "straight_through", **kwargs
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
    mode: str, score: keras.layers.Layer, units: int, window: int = 10, heads: int = 4, **kwargs
) -> AttentionMode:
    """The mode of that name, as recipes write it; `multi_head` has a score of its own."""
    if mode not in MODES:
        raise ValueError(f"`mode` must be one of {sorted(MODES)}. Received: mode={mode!r}.")
    return MODES[mode](score, units, window, heads, **kwargs)
