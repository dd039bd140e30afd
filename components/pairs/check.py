"""A look at all pairs without TensorFlow, for `pairloom check`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Any

from pairloom.components.pairs.overlap import PairDigests, count_overlap
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import Item, read_pairs
from pairloom.components.pairs.rows import Chunk, LeftOut, Pair
from pairloom.components.pairs.sampling import STRETCH, cut_stretches, reservoir
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.settling import settle
from pairloom.components.pairs.summary import PairsSummary, judge

__all__ = ["check_pairs", "count_left_out"]

# A file that can be entered anywhere is entered at so many places, if it has so many bytes each.
_MOST_PLACES = 64
_BYTES_A_PLACE = 1 << 16
# Of a file that must be read from its start, up to so many rows for each that is looked at.
_ROWS_A_ROW = 40


def check_pairs(
    data: Mapping[str, Any] | str,
    fields: Mapping[str, Any] | str,
    output: str,
    at_most: int = 0,
    strict: bool = True,
    inputs: Sequence[str] | None = None,
) -> PairsSummary:
    """Reads all rows as PairExamples would, and writes nothing.

    Args:
        data: The recipe's section `data`, as a mapping or as JSON.
        fields: The section `fields`, as a mapping or as JSON.
        output: Name of the output field.
        at_most: Look at so many rows of each file, from everywhere in it, or, where these are few,
            at the first ones; 0 reads all.
        strict: Raise where a run would fail: too many rejected rows, an empty split.
        inputs: Names of the input fields; None: all but the output.

    Returns:
        Counts by split, file and reason, and the first rows.

    Raises:
        DataError: Files are missing, empty or of different lengths; or `strict`, as above.
    """
    settings = settle(PairSettings.from_sections(data, fields, output, inputs))
    summary, digests = PairsSummary(), PairDigests(settings)
    for chunk, wanted in _chunks(settings, at_most):
        some = _Some(chunk, wanted)
        for item in read_pairs(chunk, settings, some):
            summary.add(item, settings)
            if isinstance(item, Pair):
                digests.add(item)
        summary.complete &= some.are_all
        if some.are_cut_off:
            summary.cut_off.append(chunk.files[0])
    for _, heap in digests.heaps():
        equal, nearly = count_overlap([heap])
        summary.in_train += equal
        summary.nearly_in_train += nearly
    if strict:
        judge(summary, settings)
    return summary


def count_left_out(settings: PairSettings, at_most: int = 0) -> int:
    """How many rows `data.disjoint: true` would leave out, of those that are looked at."""
    settings = settle(replace(settings, disjoint=True))
    return sum(
        isinstance(item, LeftOut)
        for chunk, wanted in _chunks(settings, at_most)
        if chunk.split == "train"
        for item in read_pairs(chunk, settings, _Some(chunk, wanted))
    )


def _chunks(settings: PairSettings, at_most: int) -> Iterator[tuple[Chunk, int]]:
    """What to read, with how many rows to look at there; 0: all."""
    if not at_most:
        # One chunk a file: cutting files costs time and helps only many workers.
        yield from ((chunk, 0) for chunk in plan_chunks(settings, chunk_bytes=2**62))
        return
    places = max(1, min(_MOST_PLACES, at_most // (2 * STRETCH)))
    chunks = plan_chunks(settings, _BYTES_A_PLACE if places > 1 else 2**62, places)
    for _, same in groupby(chunks, key=lambda chunk: (chunk.split, chunk.files)):
        pieces = list(same)
        for i, chunk in enumerate(pieces, 1):
            wanted = i * at_most // len(pieces) - (i - 1) * at_most // len(pieces)
            yield chunk, wanted


class _Some:
    """Picks the rows of a chunk that are looked at.

    Attributes:
        are_all: Whether there are no others.
        are_cut_off: Whether there are rows that could not have been picked, too far from the start.
    """

    def __init__(self, chunk: Chunk, wanted: int):
        # A piece of a file is itself one place among many.
        self._wanted, self._first_ones = wanted, chunk.lines is not None or wanted < 2 * STRETCH
        self.are_all, self.are_cut_off = True, False

    def __call__(self, rows: Iterable[Item]) -> Iterator[Item]:
        if not self._wanted:
            yield from rows
            return
        rows = iter(rows)
        if self._first_ones:
            yield from islice(rows, self._wanted)
            self.are_all = next(rows, None) is None
            return
        within = _Counted(islice(rows, self._wanted * _ROWS_A_ROW))
        picked = reservoir(cut_stretches(within), self._wanted // STRETCH)
        self.are_cut_off = next(rows, None) is not None
        self.are_all = not self.are_cut_off and within.count == sum(map(len, picked))
        yield from chain.from_iterable(picked)


class _Counted:
    """Goes through rows and counts them."""

    def __init__(self, rows: Iterator[Item]):
        self._rows, self.count = rows, 0

    def __iter__(self) -> Iterator[Item]:
        for row in self._rows:
            self.count += 1
            yield row
