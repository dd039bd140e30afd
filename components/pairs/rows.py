"""What reading gives: rows, pairs and rejections, and the piece of a file they come from."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["SHOWN", "Chunk", "LeftOut", "Pair", "Rejection", "Row", "shown"]

SHOWN = 200
"""How many characters of a rejected row are kept."""


class Row(NamedTuple):
    """One row as its format found it.

    Attributes:
        file: Where it stands.
        line: In which line.
        values: For every field, in order, raw bytes, or what JSON holds.
        key: What a hashed split looks at, where it is not the value of the field `split_by`: rows
            of one key stay together.
        position: Where in its file the row begins, in [0, 1), if that decides its split: the start
            of a file is `train`, then comes `eval`, and `test` is the end.
        split: The split, where the row itself says it.
    """

    file: str
    line: int
    values: tuple[Any, ...]
    key: bytes | None = None
    position: float | None = None
    split: str | None = None


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


class LeftOut(NamedTuple):
    """One row that nothing is wrong with, but that is not trained on: a test asks for it."""

    file: str
    line: int


def shown(raw: Any) -> str:
    """The first characters of a raw value; what is not UTF-8 as backslash escapes."""
    if isinstance(raw, bytes):
        return raw[: 4 * SHOWN].decode(errors="backslashreplace")[:SHOWN]
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return text[:SHOWN].encode(errors="backslashreplace").decode()[:SHOWN]


@dataclass(frozen=True)
class Chunk:
    """Lines that one worker reads.

    Attributes:
        number: Counts the chunks of a run; names their output files.
        split: Which data section the files are from: `train`, `eval` or `test`.
        files: One path; for parallel files one path a field; for generated rows their name.
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
