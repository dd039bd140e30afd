"""What reading gives: rows, pairs and rejections, and the piece of a file they come from."""

from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["SHOWN", "Chunk", "Pair", "Rejection", "Row", "shown"]

SHOWN = 200
"""How many characters of a rejected row are kept."""


class Row(NamedTuple):
    """One row as its format found it: raw bytes for every field, in the order of the fields."""

    file: str
    line: int
    values: tuple[bytes, ...]


class Pair(NamedTuple):
    """One good row: checked values, in the order of the fields, and the split it belongs to."""

    file: str
    line: int
    split: str
    values: tuple[Any, ...]


class Rejection(NamedTuple):
    """One row that cannot be used, with the reason and its first characters."""

    file: str
    line: int
    reason: str
    text: str


def shown(raw: bytes) -> str:
    """The first characters of a row; bytes that are not UTF-8 as backslash escapes."""
    return raw[: 4 * SHOWN].decode(errors="backslashreplace")[:SHOWN]


@dataclass(frozen=True)
class Chunk:
    """Lines that one worker reads.

    Attributes:
        number: Counts the chunks of a run; names their output files.
        split: Which data section the files are from: `train`, `eval` or `test`.
        files: One path; for parallel files one path a field.
        first: Number of the first line, from 1.
        lines: How many lines to read, or None for all that follow.
        offsets: Where line `first` starts in each file, in bytes.
    """

    number: int
    split: str
    files: tuple[str, ...]
    first: int = 1
    lines: int | None = None
    offsets: tuple[int, ...] = ()
