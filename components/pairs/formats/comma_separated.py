"""CSV as in RFC 4180: quoted fields may hold commas, doubled quotes and line ends.

Because a quote may span lines, nobody can start in the midst of a file: each file is read by one
worker. A quote that is never closed would swallow the rest of the file; here it costs its own line.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from pairloom.components.pairs.formats.columns import SAMPLE, Table
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["CommaSeparated", "read_records"]


class CommaSeparated(SingleFile):
    """One row a record, `source,target`."""

    splittable = False
    folds = True

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file = chunk.files[0]
        limit = settings.line_limit
        first = islice(read_records(numbered_lines(chunk, settings), limit), SAMPLE)
        first_rows = [cells for _, cells, _ in first if isinstance(cells, list)]
        table = Table.of(file, first_rows, settings, chunk.split)
        fold = settings.fold
        records = read_records(numbered_lines(chunk, settings), limit, table)
        for number, cells, raw in records:
            if number == 1 and settings.header:
                continue
            if isinstance(cells, str):
                yield Rejection(file, number, cells, shown(raw))
            else:
                values = table.values([cell.encode(errors="surrogateescape") for cell in cells])
                if fold is None or table.fold is None:
                    yield Row(file, number, values)
                else:
                    yield Row(file, number, values, split=fold.split_of(cells[table.fold]))


class _OpenQuote(Exception):
    """A record goes on for longer than any good one."""


def read_records(
    lines: Iterable[tuple[int, bytes]], limit: int, table: Table | None = None
) -> Iterator[tuple[int, list[str] | str, bytes]]:
    """Reads one record after the other, whatever is wrong with some of them.

    Args:
        lines: Numbers and lines, the latter without their ends.
        limit: Bytes; a longer record is a quote that was never closed.
        table: How many cells a record must have; without it any number will do.

    Yields:
        Line number, cells or the reason why there are none, and the record's bytes.
    """
    # The module's own limit would stop the run at a long field.
    csv.field_size_limit(max(csv.field_size_limit(), 2 * limit))
    source = iter(lines)
    waiting: deque[tuple[int, bytes]] = deque()
    taken: list[tuple[int, bytes]] = []

    def feed() -> Iterator[str]:
        size = 0
        while True:
            entry = waiting.popleft() if waiting else next(source, None)
            if entry is None:
                return
            taken.append(entry)
            size += len(entry[1])
            if type(entry[1]) is LongLine or size > limit:
                raise _OpenQuote
            yield entry[1].decode(errors="surrogateescape") + "\n"

    while True:
        taken.clear()
        cells: list[str] | str
        try:
            cells = next(csv.reader(feed(), strict=True))
            if not cells:
                cells = "line is empty"
            elif table and len(cells) != table.width:
                # Two stray quotes may have made one record of many good lines: only the first goes.
                waiting.extendleft(reversed(taken[1:]))
                del taken[1:]
                cells = table.wrong_width(len(cells))
        except StopIteration:
            return
        except (csv.Error, _OpenQuote) as error:
            number, line = taken[0]
            waiting.extendleft(reversed(taken[1:]))
            if type(line) is LongLine:
                reason = long_line("", number, line).reason
            elif isinstance(error, _OpenQuote) or "end of data" in str(error):
                reason = "quote is never closed"
            else:
                reason = f"malformed CSV: {error}"
            yield number, reason, line
            continue
        yield taken[0][0], cells, b"\n".join(line for _, line in taken)
