"""From a chunk to checked pairs, each with its split."""

import hashlib
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from pairloom.components.pairs.disjoint import HeldOut
from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.joining import join_rows
from pairloom.components.pairs.rows import SHOWN, Chunk, LeftOut, Pair, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.split_keys import keyed_rows
from pairloom.components.pairs.values import Reader, readers
from pairloom.kinds import FieldError, Kind

__all__ = ["Item", "hashed_share", "read_pairs"]

Item = Row | Rejection | LeftOut
"""What a format and the steps behind it hand on for a row."""

_Check = Callable[[Row], tuple[Any, ...] | Rejection]


def hashed_share(key: bytes) -> float:
    """A number in [0, 1) that looks random and depends on the key alone."""
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") / 2**64


def read_pairs(
    chunk: Chunk,
    settings: PairSettings,
    some: Callable[[Iterable[Item]], Iterable[Item]] = iter,
) -> Iterator[Pair | Rejection | LeftOut]:
    """Reads and checks the rows of a chunk.

    With shares of 0.1 for `eval` and 0.2 for `test`, a pair of the train section whose `split_by`
    value hashes to less than 0.1 goes to `eval`, to less than 0.3 to `test`, and else to `train`.
    A row with a position goes to `train` below 0.7, to `eval` below 0.8, and else to `test`.

    Args:
        chunk: What to read.
        settings: How.
        some: Picks the rows that are checked, among those that the format finds.

    Yields:
        A `Pair`, a `Rejection` or a `LeftOut` for each row, in the order of the file.
    """
    fields = readers(settings)
    check = _checker(chunk, settings, fields)
    rows = some(keyed_rows(find_format(settings.format).rows(chunk, settings), settings))
    if settings.disjoint and chunk.split == "train":
        rows = _without_held_out(rows, check, settings)
    if settings.joined > 1:
        rows = join_rows(_checked(rows, check), settings.joined)
    together, limit = _together(settings), settings.max_length
    split_by, key_of = settings.split_by, settings.kinds[settings.split_by].key
    shares = settings.shares if chunk.split == "train" else {}
    bounds = list(accumulate(shares.values()))
    splits = [*shares, chunk.split]
    for row in rows:
        if not isinstance(row, Row):
            yield row
            continue
        file, line, raw, key, position, split = row
        values: list[Any] = []
        try:
            # Written out here, and not as a call of `check`: this is what most of the time goes to.
            for (read, options), value in zip(fields, raw, strict=True):
                values.append(read(value, options, limit))
            for _, go_together in together:
                go_together(values)
        except FieldError:
            yield check(row)  # type: ignore[misc]
            continue
        if split is None:
            if not bounds:
                split = chunk.split
            elif position is not None:
                split = _split_at(position, shares)
            else:
                share = hashed_share(key_of(values[split_by]) if key is None else key)
                split = splits[bisect(bounds, share)]
        yield Pair(file, line, split, tuple(values))


def _together(settings: PairSettings) -> list[tuple[int, Callable[[list[Any]], None]]]:
    """What looks at all values of a row, each with the place of the field that it is for."""
    return [
        (place, partial(_check_beside, settings, place))
        for place, kind in enumerate(settings.kinds)
        if type(kind).check is not Kind.check
    ]


def _check_beside(settings: PairSettings, place: int, values: list[Any]) -> None:
    named = dict(zip(settings.fields, values, strict=True))
    inputs = {name: named[name] for name in settings.inputs}
    settings.kinds[place].check(values[place], inputs, named[settings.output])


def _checker(
    chunk: Chunk, settings: PairSettings, fields: Sequence[tuple[Reader, Mapping[str, Any]]]
) -> _Check:
    """What makes checked values of a row's raw ones, or says why it cannot."""
    together, limit = _together(settings), settings.max_length

    def check(row: Row) -> tuple[Any, ...] | Rejection:
        values: list[Any] = []
        try:
            for (read, options), raw in zip(fields, row.values, strict=True):
                bad = len(values)
                values.append(read(raw, options, limit))
            for place, go_together in together:
                bad = place
                go_together(values)
        except FieldError as error:
            # Parallel files: the file that holds the bad side is the one to name.
            file = chunk.files[bad] if len(chunk.files) > 1 else row.file
            text = "\t".join(map(shown, row.values))[:SHOWN]
            return Rejection(file, row.line, f"{settings.fields[bad]} {error}", text)
        return tuple(values)

    return check


def _split_at(position: float, shares: Mapping[str, float]) -> str:
    """The split of a row by its place: train is in front, then come the shares."""
    rest = 1.0 - sum(shares.values())
    starts = list(accumulate(shares.values(), initial=rest))[:-1]
    return ["train", *shares][bisect(starts, position)]


def _checked(rows: Iterable[Item], check: _Check) -> Iterator[Item]:
    for row in rows:
        wrong = check(row) if isinstance(row, Row) else None
        yield wrong if isinstance(wrong, Rejection) else row


def _without_held_out(
    rows: Iterable[Item], check: _Check, settings: PairSettings
) -> Iterator[Item]:
    held_out, split_by = HeldOut(settings), settings.split_by
    key_of = settings.kinds[split_by].key
    for row in rows:
        # What a fold takes to eval or test is itself held out.
        if isinstance(row, Row) and row.split is None:
            values = check(row)
            if isinstance(values, Rejection):
                yield values
                continue
            if (key_of(values[split_by]) if row.key is None else row.key) in held_out:
                yield LeftOut(row.file, row.line)
                continue
        yield row
