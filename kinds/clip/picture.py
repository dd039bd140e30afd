"""Attention over frames, drawn in the terminal."""

from pairloom.kinds.text.picture import draw

__all__ = ["draw"]
