"""Test pairs that are in train too: a score on them says little of new ones."""

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from pairloom.components.pairs.rows import Pair
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.summary import PairsSummary

__all__ = ["Digests", "PairDigests", "count_overlap", "overlap_told"]

# So many heaps are counted apart, by different workers if there are any.
_HEAPS = 64


class Digests(NamedTuple):
    """Eight bytes for each pair: twice, as the values are and as far as they are alike."""

    test: tuple[bytes, bytes]
    train: tuple[bytes, bytes]


class PairDigests:
    """What must be kept of pairs to tell which are in two splits; no need to keep their texts.

    Args:
        settings: Of the reading; values count that a model reads or writes.
    """

    def __init__(self, settings: PairSettings):
        self._of = [
            (place, kind)
            for place, (name, kind) in enumerate(zip(settings.fields, settings.kinds, strict=True))
            if name in settings.inputs or name == settings.output
        ]
        self._heaps: dict[int, dict[str, tuple[array[int], array[int]]]] = {}

    def add(self, pair: Pair) -> None:
        """Takes in a pair; those of `eval` are neither trained on nor reported."""
        if pair.split == "eval":
            return
        alike = _digest(kind.alike(pair.values[place]) for place, kind in self._of)
        # Equal pairs are alike, so they are on the same heap.
        heap = self._heaps.setdefault(alike % _HEAPS, {"test": _two(), "train": _two()})
        equal = _digest(kind.key(pair.values[place]) for place, kind in self._of)
        for digests, one in zip(heap[pair.split], (equal, alike), strict=True):
            digests.append(one)

    def heaps(self) -> Iterator[tuple[int, Digests]]:
        """All that was taken in. What is on one heap can be counted without the others."""
        for number, heap in self._heaps.items():
            test, train = ((a.tobytes(), b.tobytes()) for a, b in (heap["test"], heap["train"]))
            yield number, Digests(test, train)


def count_overlap(heap: Iterable[Digests]) -> tuple[int, int]:
    """Counts the test pairs of a heap that are in train: equal ones, and others that are alike."""
    parts = list(heap)
    counts = []
    for way in range(2):
        train = set(chain.from_iterable(_numbers(part.train[way]) for part in parts))
        counts.append(sum(one in train for part in parts for one in _numbers(part.test[way])))
    equal, alike = counts
    return equal, alike - equal


def overlap_told(summary: PairsSummary) -> str:
    """How many test pairs are in train too, in a sentence; empty: none."""
    if not (summary.in_train or summary.nearly_in_train):
        return ""
    equal, nearly = f"{summary.in_train:,}", f"{summary.nearly_in_train:,}"
    told = f"of {summary.splits['test']:,} test pairs, {equal} are in train too"
    if summary.nearly_in_train:
        told += f", {nearly} more are but for case, spaces and punctuation"
    # In the rows that nobody looked at there may be others.
    return told if summary.complete else f"{told}, at least"


def _two() -> tuple["array[int]", "array[int]"]:
    return array("Q"), array("Q")


def _digest(keys: Iterable[bytes]) -> int:
    digest = hashlib.blake2b(digest_size=8)
    for key in keys:
        # The length in front: two values are never taken for another two.
        digest.update(len(key).to_bytes(8, "little") + key)
    return int.from_bytes(digest.digest(), "little")


def _numbers(digests: bytes) -> "array[int]":
    return array("Q", digests)
