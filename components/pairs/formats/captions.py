"""Images and their captions: a file of captions, and lists of images where splits are official.

A line is `name.jpg#0<TAB>caption`, `name.jpg<TAB>caption` or `name.jpg,caption`, in quotes as CSV
has them where need be. An image has as many rows as it has captions:

    dog.jpg#0    A dog runs .
    dog.jpg#1    A brown dog on grass .

Without `options.captions` the captions are what `data.train` names. With it, `data.train`,
`data.eval` and `data.test` name files that list images, a name a line, and `options.captions` the
file that has the captions of all; images that no list names are left alone.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pairloom.components.pairs.files import find_files
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine, read_lines
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Captions"]

_NUMBER = re.compile(rb"#\d+$")
_HEADER = (b"image", b"caption")


class Captions(SingleFile):
    """The first field is the image, the second the caption."""

    side_by_side = False
    options: Mapping[str, Option] = {"captions": Option("")}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("captions", settings, "the image", "its caption")
        groups = super().groups(source, named, settings)
        captions = option_values(self.options, settings.options)["captions"]
        if not captions:
            return groups
        beside = find_files(settings.path(captions), "data.options.captions")
        return [(*group, *beside) for group in groups]

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        listed, *captions = chunk.files
        if not captions:
            yield from _captions(listed, numbered_lines(chunk, settings))
            return
        lines: dict[bytes, int] = {}
        for number, line in numbered_lines(chunk, settings):
            if type(line) is LongLine:
                yield long_line(listed, number, line)
            elif line.strip():
                lines.setdefault(line.strip(), number)
        missing = dict(lines)
        for file in captions:
            for row in _captions(file, enumerate(read_lines(file, settings.line_limit), 1)):
                # A line that nothing can be made of is nobody's, and told of once.
                if isinstance(row, Row) and row.values[0] in lines:
                    missing.pop(row.values[0], None)
                    yield row
                elif isinstance(row, Rejection) and chunk.number == 0:
                    yield row
        for name, number in missing.items():
            yield Rejection(listed, number, "no caption of this image", shown(name))


def _captions(file: str, lines: Iterator[tuple[int, bytes]]) -> Iterator[Row | Rejection]:
    for number, line in lines:
        if type(line) is LongLine:
            yield long_line(file, number, line)
            continue
        cells = _cells(line)
        if cells is None:
            reason = "expected an image and its caption, with a tab or a comma between them"
            yield Rejection(file, number, reason, shown(line))
        elif number > 1 or cells != _HEADER:
            yield Row(file, number, cells)


def _cells(line: bytes) -> tuple[bytes, bytes] | None:
    name, tab, caption = line.partition(b"\t")
    if tab:
        return _NUMBER.sub(b"", name.strip()), caption
    try:
        [cells] = csv.reader([line.decode(errors="surrogateescape")], strict=True)
    except (csv.Error, ValueError):
        return None
    if len(cells) < 2:
        return None
    # Captions that are not quoted have commas of their own.
    name, caption = (
        part.encode(errors="surrogateescape") for part in (cells[0], ",".join(cells[1:]))
    )
    return name.strip(), caption
