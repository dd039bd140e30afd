"""Attention over a text's tokens, drawn in the terminal and into a file."""

from collections.abc import Sequence
from typing import Any

from pairloom.kinds.heatmap import heatmap
from pairloom.kinds.looked import Looked, Picture

__all__ = ["draw", "plan"]


def draw(
    looked: Looked, target_tokens: Sequence[str], width: int | None = None, color: bool = False
) -> str:
    """A heat map: the text's tokens across, the answer's down.

    Args:
        looked: The tokens and the weights over them.
        target_tokens: The answer's.
        width: Columns of the terminal; by default those of the terminal in use.
        color: Whether to paint in 256 colours.

    Returns:
        Lines; an empty text where there is nothing to draw.
    """
    if looked.attention is None:
        return ""
    tokens = [str(token) for token in looked.tokens]
    return heatmap(looked.attention, tokens, target_tokens, width, color)


def plan(looked: Looked, target_tokens: Sequence[str], value: Any) -> Picture | None:
    """The same as a picture; None where there is nothing to draw.

    Args:
        looked: As of `draw`.
        target_tokens: The answer's.
        value: The text itself.
    """
    del value
    if looked.attention is None:
        return None
    arguments = {
        "weights": looked.attention,
        "source_tokens": looked.tokens,
        "target_tokens": target_tokens,
    }
    return Picture("alignment", arguments)
