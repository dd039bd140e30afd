"""What the formats with one file for all fields share."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pairloom.components.pairs.files import find_files
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.lines import LongLine, read_lines
from pairloom.components.pairs.rows import Chunk, Rejection, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["SingleFile", "long_line", "numbered_lines"]


def numbered_lines(chunk: Chunk, settings: PairSettings) -> Iterator[tuple[int, bytes]]:
    """The lines of a chunk of one file, with their numbers."""
    lines = read_lines(chunk.files[0], settings.line_limit, *chunk.offsets)
    return enumerate(islice(lines, chunk.lines), chunk.first)


def long_line(file: str, number: int, line: LongLine) -> Rejection:
    """The rejection of a line that is too long to be parsed."""
    return Rejection(file, number, f"line is longer than {len(line):,} bytes", shown(line))


class SingleFile:
    """A format whose rows each stand in one file."""

    splittable = True
    side_by_side = True
    reads_lines = True
    needs_files = True
    folds = False
    options: Mapping[str, Option] = {}

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        return 0

    def home(self) -> str:
        return ""

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        del settings
        return [(path,) for path in find_files(source, named)]
