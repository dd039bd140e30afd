"""What a look at a user's files found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pairloom.pipeline.errors import UserError

__all__ = ["FIELDS", "FilesLook", "by_field", "complete"]

FIELDS = ("source", "target")
_SHOWN = 3


@dataclass(frozen=True)
class FilesLook:
    """What the files are.

    Attributes:
        format: As the recipe names it.
        files: One path, or source and target.
        pairs: How many rows there are.
        values: Field to raw values of some rows, from everywhere in the files, which have all of
            them.
        inputs: The fields that are read.
        output: The field that is written.
        header: Whether the first line names the columns.
        columns: Where the fields are, positions or names, several for one field in a tuple; None
            for the usual places.
        column_names: All columns or keys that there are to choose from.
        options: The format's own.
        doubt: What else the columns could be; empty: nothing.
        folders: Field to the folder that its files lie in, where its values are files.
        references: Whether there are several right answers to one input.
        why: How the format was found out, where its name does not tell.
    """

    format: str
    files: tuple[Path, ...]
    pairs: int
    values: Mapping[str, Sequence[Any]]
    inputs: tuple[str, ...] = FIELDS[:1]
    output: str = FIELDS[1]
    header: bool = False
    columns: tuple[int | str | tuple[int | str, ...], ...] | None = None
    column_names: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    doubt: str = ""
    folders: Mapping[str, Path] = field(default_factory=dict)
    references: bool = False

    @property
    def looked_at(self) -> int:
        """How many rows the values are from."""
        return len(self.values[self.output])

    @property
    def told(self) -> str:
        """How many rows there are, and were looked at."""
        if self.looked_at >= self.pairs:
            return f"{self.pairs:,} rows"
        return f"{self.pairs:,} rows, of which {self.looked_at:,} were looked at"

    @property
    def sample(self) -> tuple[tuple[Any, ...], ...]:
        """The first of the rows."""
        return tuple(zip(*(values[:_SHOWN] for values in self.values.values())))


def complete(rows: Iterable[Sequence[Any]], files: Sequence[Path]) -> list[tuple[Any, ...]]:
    """The rows that have a value everywhere, strings without the white space around them.

    Raises:
        UserError: there is none.
    """
    stripped = (tuple(v.strip() if isinstance(v, str) else v for v in row) for row in rows)
    good = [row for row in stripped if not any(v is None or v == "" or v == [] for v in row)]
    if not good:
        raise UserError(
            f"Expected pairs with text on both sides. Received: none in "
            f"{' and '.join(map(str, files))}."
        )
    return good


def by_field(
    rows: Sequence[tuple[Any, ...]], names: Sequence[str] = FIELDS
) -> dict[str, list[Any]]:
    """Rows as columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
