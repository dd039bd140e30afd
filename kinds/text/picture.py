"""Attention over a text's tokens, drawn in the terminal."""

from collections.abc import Sequence

from pairloom.kinds.heatmap import heatmap
from pairloom.kinds.looked import Looked

__all__ = ["draw"]


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
