"""Formats: each a small module that turns lines into rows, or makes rows.

A format yields a `Row` or a `Rejection` for every line that is meant as one, and never both or
neither. It does not look at values: that is what kinds do.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.arithmetic import Arithmetic
from pairloom.components.pairs.formats.captions import Captions
from pairloom.components.pairs.formats.cmu_dictionary import CmuDictionary
from pairloom.components.pairs.formats.comma_separated import CommaSeparated
from pairloom.components.pairs.formats.conversations import Conversations
from pairloom.components.pairs.formats.digits import Digits
from pairloom.components.pairs.formats.easy_vqa import EasyVqa
from pairloom.components.pairs.formats.folders import Folders
from pairloom.components.pairs.formats.json_lines import JsonLines
from pairloom.components.pairs.formats.json_list import JsonList
from pairloom.components.pairs.formats.nested_tags import NestedTags
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.formats.parallel import Parallel
from pairloom.components.pairs.formats.passages import Passages
from pairloom.components.pairs.formats.tab_separated import TabSeparated
from pairloom.components.pairs.rows import Chunk, Rejection, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["FORMATS", "Format", "find_format"]


class Format(Protocol):
    """How files of one format are found and read."""

    splittable: bool
    """Whether a worker can start in the midst of a file. Never so for gzip."""

    side_by_side: bool
    """Whether files of one tuple are read line by line together; else only the first is cut."""

    reads_lines: bool
    """Whether rows stand in files of text. Else `count` tells how many there are."""

    needs_files: bool
    """Whether `data.train` must name files."""

    folds: bool
    """Whether `data.fold` can name a column."""

    options: Mapping[str, Option]
    """The keys that `data.options` may have."""

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        """The files of a data section; those of one tuple are read side by side."""

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        """How many rows one of the groups has, where they are no lines that are cut by bytes."""

    def home(self) -> str:
        """Where the paths in its rows start, if its files come with it; empty: as recipes say."""

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        """The rows of a chunk, in order."""


FORMATS: Mapping[str, Format] = {
    "arithmetic": Arithmetic(),
    "captions": Captions(),
    "cmudict": CmuDictionary(),
    "conversations": Conversations(),
    "csv": CommaSeparated(),
    "digits": Digits(),
    "easy-vqa": EasyVqa(),
    "folders": Folders(),
    "json": JsonList(),
    "jsonl": JsonLines(),
    "parallel": Parallel(),
    "passages": Passages(),
    "tsv": TabSeparated(),
    "xml": NestedTags(),
}


def find_format(name: str) -> Format:
    """Finds a format by its name, as `find_format("tsv")`."""
    if name not in FORMATS:
        raise DataError(f"`data.format` must be one of {sorted(FORMATS)}. Received: {name!r}.")
    return FORMATS[name]
