"""Counted n-grams."""

from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Counts the runs of `order` neighbouring tokens.

    >>> ngrams(["to", "be", "to", "be"], 2)
    Counter({('to', 'be'): 2, ('be', 'to'): 1})
    """
    return Counter(zip(*(tokens[start:] for start in range(order))))
