"""Tables: which column is which field, and how many columns a good row has."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.settings import Column, PairSettings

__all__ = ["SAMPLE", "Table"]

Cell = TypeVar("Cell")

SAMPLE = 100
"""Rows at the start of a file that say how many columns it has."""


@dataclass(frozen=True)
class Table:
    """The columns of one file.

    Attributes:
        positions: Of each field's column, or columns, in the order of the fields.
        width: How many columns a row must have.
        fold: Position of the column that decides the split, if one does.
    """

    positions: tuple[int | tuple[int, ...], ...]
    width: int
    fold: int | None = None

    @classmethod
    def of(
        cls,
        file: str,
        first_rows: Sequence[Sequence[str]],
        settings: PairSettings,
        split: str = "train",
    ) -> "Table":
        """Looks at the first rows of a file, its header included.

        Without `columns`, the header's names are used where they are the fields' names, and else
        the order of the fields. The width is the header's; without a header that of the fields, or,
        where `columns` or `fold` picks some of a wide table, what most of the first rows have.
        """
        header = list(first_rows[0]) if settings.header and first_rows else None
        columns: Sequence[Column] = settings.columns or range(len(settings.fields))
        if header and settings.columns is None and set(settings.fields) <= set(header):
            columns = settings.fields
        positions = tuple(_positions(file, column, header) for column in columns)
        fold = None
        # Files that are eval or test as a whole need no such column.
        if settings.fold is not None and split == "train":
            fold = _position(file, settings.fold.by, header, "data.fold.by")
        flat = [i for place in positions for i in (place if isinstance(place, tuple) else [place])]
        needed = max(*flat, -1 if fold is None else fold) + 1
        if header is not None:
            width = len(header)
        elif settings.columns is None and fold is None:
            width = len(settings.fields)
        else:
            widths = Counter(len(row) for row in first_rows)
            width = max([needed, *(n for n, _ in widths.most_common(1))])
        if width < needed:
            raise DataError(
                f"`{file}` must have at least {needed} columns, one for each of the fields "
                f"{list(settings.fields)}. Its header has {width}: {header}."
            )
        return cls(positions, width, fold)

    def values(self, cells: Sequence[Cell]) -> tuple[Cell | list[Cell], ...]:
        """What a row holds of each field; of several columns a list."""
        return tuple(
            [
                [cells[i] for i in place] if isinstance(place, tuple) else cells[place]
                for place in self.positions
            ]
        )

    def wrong_width(self, received: int) -> str:
        """The reason for the rejection of a row."""
        return f"expected {self.width} columns, received {received}"


def _positions(file: str, column: Column, header: list[str] | None) -> int | tuple[int, ...]:
    if isinstance(column, tuple):
        return tuple(_position(file, one, header) for one in column)
    return _position(file, column, header)


def _position(
    file: str, column: int | str, header: list[str] | None, named: str = "data.columns"
) -> int:
    if isinstance(column, int):
        if column < 0:
            raise DataError(f"`{named}` must count from 0. Received: {column}.")
        return column
    if header is None:
        raise DataError(
            f"`{named}` can name columns only with `data.header: true`. Received: {column!r}."
        )
    if column not in header:
        raise DataError(f"`{file}` has no column {column!r}. Its header has {header}.")
    return header.index(column)
