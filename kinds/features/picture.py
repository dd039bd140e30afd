"""Which vectors a model looked at, drawn in the terminal and into a file."""

from collections.abc import Sequence
from typing import Any

from pairloom.kinds.looked import Looked, Picture
from pairloom.kinds.text.picture import draw

__all__ = ["draw", "plan"]


def plan(looked: Looked, target_tokens: Sequence[str], value: Any) -> Picture | None:
    """A strip over time for each token of the answer; None where there is nothing to draw.

    Args:
        looked: As of `draw`.
        target_tokens: The answer's.
        value: The vectors.
    """
    del value
    if looked.attention is None or not target_tokens:
        return None
    if len(target_tokens) == 1:
        return Picture("frames", {"weights": looked.attention[0]})
    return Picture("frames", {"weights": looked.attention, "words": target_tokens})
