"""Lines of bytes, however long, and where in a file they start.

Only `\\n` ends a line (a `\\r` before it is dropped): the other things that Unicode calls line ends
occur inside sentences, and would shift parallel files against each other.
"""

import bisect
import zlib
from collections.abc import Iterator
from typing import IO

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import open_bytes, open_raw

__all__ = ["LineIndex", "LongLine", "read_lines"]

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20


class LongLine(bytes):
    """The beginning of a line that is over the limit."""


def read_lines(path: str, limit: int, offset: int = 0) -> Iterator[bytes]:
    """Reads the lines of a plain or gzip file, without their ends.

    Args:
        path: The file. A byte order mark at its start is dropped.
        limit: Bytes; of a longer line only the beginning comes out, as a `LongLine`.
        offset: Where to start, in bytes; a gzip file can be read from its start only.
    """
    try:
        with open_raw(path) if offset else open_bytes(path) as file:
            if offset:
                file.seek(offset)
            elif file.read(3) != BOM:
                file.seek(0)
            while line := file.readline(limit + 2):
                if line.endswith(b"\n"):
                    line = line[:-2] if line.endswith(b"\r\n") else line[:-1]
                elif len(line) > limit:
                    _skip_line(file)
                yield line if len(line) <= limit else LongLine(line[:limit])
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"`{path}` cannot be read to its end: {error}.") from error


def _skip_line(file: IO[bytes]) -> None:
    """Goes on to the next line."""
    while (part := file.readline(BLOCK)) and not part.endswith(b"\n"):
        pass


class LineIndex:
    """Where lines start in a plain file: one place remembered in every block.

    Attributes:
        lines: How many lines the file has; the last one may lack its end.
    """

    def __init__(self, path: str):
        self._path = path
        self._marks = [(1, 0)]
        ends, offset, last = 0, 0, b"\n"
        with open_raw(path) as file:
            while block := file.read(BLOCK):
                here = block.count(b"\n")
                if here:
                    ends += here
                    self._marks.append((ends + 1, offset + block.rindex(b"\n") + 1))
                offset += len(block)
                last = block[-1:]
        self.lines = ends + (last != b"\n")

    def offset(self, line: int) -> int:
        """The byte at which a line starts; lines count from 1."""
        at, offset = self._marks[bisect.bisect(self._marks, (line + 1, -1)) - 1]
        with open_raw(self._path) as file:
            file.seek(offset)
            while at < line and (part := file.readline(BLOCK)):
                at += part.endswith(b"\n")
            return file.tell()
