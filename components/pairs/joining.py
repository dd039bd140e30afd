"""Rows of several sentences: `data.joined`.

With `joined: 4` the rows of a file are cut into groups of one to four neighbours, and each group
becomes one row: its values, field by field, with a space between them. Every row is in exactly one
group. How many rows a group has depends on the name of the file and the line of its first row.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from pairloom.components.pairs.rows import LeftOut, Rejection, Row

__all__ = ["join_rows"]


def join_rows(
    rows: Iterable[Row | Rejection | LeftOut], most: int
) -> Iterator[Row | Rejection | LeftOut]:
    """Joins neighbours.

    Args:
        rows: Rows whose values have been checked one by one: an empty side would vanish in a group
            and shift its partner.
        most: Rows of a group, at most.

    Yields:
        The joined rows. A group ends early where a row cannot be joined: it is rejected, belongs to
        another split or key, or has values that are no strings.
    """
    group: list[Row] = []
    wanted = 0
    for row in rows:
        if not isinstance(row, Row):
            yield from _joined(group)
            group = []
            yield row
            continue
        if group and (len(group) == wanted or not _fit(group[0], row)):
            yield from _joined(group)
            group = []
        if not group:
            wanted = 1 + _chance(row) % most
        group.append(row)
    yield from _joined(group)


def _chance(row: Row) -> int:
    # The folder is left out: the same data elsewhere give the same rows.
    name = f"{os.path.basename(row.file)}:{row.line}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def _fit(first: Row, row: Row) -> bool:
    return (
        (first.file, first.key, first.split) == (row.file, row.key, row.split)
        and all(isinstance(value, (str, bytes)) for value in row.values)
        and list(map(type, first.values)) == list(map(type, row.values))
    )


def _joined(group: list[Row]) -> Iterator[Row]:
    if group:
        yield group[0]._replace(values=tuple(map(_together, zip(*(row.values for row in group)))))


def _together(values: tuple[Any, ...]) -> Any:
    if len(values) == 1:
        return values[0]
    return (b" " if isinstance(values[0], bytes) else " ").join(values)
