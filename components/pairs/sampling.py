"""Some rows for all: stretches of neighbours from everywhere in a file.

Files are often sorted, by length or by where their rows are from, so that the first rows tell
little of the others. Rows come in stretches, because a neighbour may be needed to understand a row,
as in running text, and because entering a file costs more than reading on.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from random import Random
from typing import TypeVar

from pairloom.components.pairs.files import is_gzip
from pairloom.components.pairs.lines import LineIndex, read_lines

__all__ = ["STRETCH", "cut_stretches", "reservoir", "sample_lines"]

STRETCH = 50
"""Rows of a stretch."""

T = TypeVar("T")


def reservoir(items: Iterable[T], at_most: int) -> list[T]:
    """The first item, and of the others some, each as likely as any other (Vitter 1985, R).

    Which ones hangs on how many items there are alone, so that line 7 of one of two parallel files
    is taken where line 7 of the other is.

    Args:
        items: Gone through once; no more than `at_most` are kept at a time.
        at_most: How many come out, at least 1.

    Returns:
        The items in their order.
    """
    random = Random(0)
    kept: list[tuple[int, T]] = []
    for at, item in enumerate(items):
        if at < at_most:
            kept.append((at, item))
        elif (place := random.randrange(at) + 1) < at_most:
            kept[place] = (at, item)
    return [item for _, item in sorted(kept, key=lambda one: one[0])]


def cut_stretches(items: Iterable[T]) -> Iterator[list[T]]:
    """Neighbours together."""
    rest = iter(items)
    while stretch := list(islice(rest, STRETCH)):
        yield stretch


def sample_lines(path: str, limit: int, at_most: int) -> tuple[list[bytes], int]:
    """Lines from everywhere in a plain or gzip file.

    Args:
        path: The file.
        limit: Bytes; of a longer line only the beginning comes out.
        at_most: How many lines come out; a multiple of `STRETCH`.

    Returns:
        The lines, in their order, and how many the file has.
    """
    stretches = at_most // STRETCH
    if is_gzip(path):
        # Nobody can enter such a file in its midst.
        count = 0

        def counted() -> Iterator[bytes]:
            nonlocal count
            for line in read_lines(path, limit):
                count += 1
                yield line

        return list(chain.from_iterable(reservoir(cut_stretches(counted()), stretches))), count
    index = LineIndex(path)
    lines: list[bytes] = []
    for first in reservoir(range(1, index.lines + 1, STRETCH), stretches):
        lines += islice(read_lines(path, limit, index.offset(first)), STRETCH)
    return lines, index.lines
