"""TSV: fields between tabs, no quoting. Large plain files are split over workers."""

from collections.abc import Iterator
from itertools import islice

from pairloom.components.pairs.formats.columns import SAMPLE, Table
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine, read_lines
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["TabSeparated"]


class TabSeparated(SingleFile):
    """One row a line, `source<TAB>target`."""

    folds = True

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file = chunk.files[0]
        start = islice(read_lines(file, settings.line_limit), SAMPLE)
        first_rows = [line.decode(errors="replace").split("\t") for line in start]
        table = Table.of(file, first_rows, settings, chunk.split)
        fold = settings.fold
        for number, line in numbered_lines(chunk, settings):
            if number == 1 and settings.header:
                continue
            if type(line) is LongLine:
                yield long_line(file, number, line)
                continue
            cells = line.split(b"\t")
            if len(cells) != table.width:
                yield Rejection(file, number, table.wrong_width(len(cells)), shown(line))
                continue
            values = table.values(cells)
            if fold is None or table.fold is None:
                yield Row(file, number, values)
            else:
                yield Row(file, number, values, split=fold.split_of(cells[table.fold]))
