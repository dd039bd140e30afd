"""Subwords of all the texts, as of a single one: a line end is white space."""

from pairloom.kinds.text.learning import count, learn

__all__ = ["count", "learn"]
