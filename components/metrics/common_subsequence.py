"""Length of the longest common subsequence of two sequences."""

from collections.abc import Hashable, Sequence


def common_subsequence(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Returns how many tokens the longest common subsequence has; there may be gaps in it.

    Hyyrö's (2004) bit-parallel form: a row of the table rises by 0 or 1 from cell to cell, so it is
    one bit vector, whose zeros are the rises. Python's integers have any width.

    >>> common_subsequence("the cat sat".split(), "the fat cat".split())
    2
    """
    positions: dict[Hashable, int] = {}
    for index, token in enumerate(right):
        positions[token] = positions.get(token, 0) | 1 << index
    everywhere = (1 << len(right)) - 1
    row = everywhere
    for token in left:
        equal = row & positions.get(token, 0)
        row = ((row + equal) | (row - equal)) & everywhere
    return len(right) - bin(row).count("1")
