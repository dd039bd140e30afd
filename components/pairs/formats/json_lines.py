"""JSON lines: an object a line, a key a field. Large plain files are split over workers."""

import json
from collections.abc import Iterator
from typing import Any

from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["JsonLines"]


class JsonLines(SingleFile):
    """One row a line, `{"source": "...", "target": "..."}`."""

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file, keys = chunk.files[0], settings.columns or settings.fields
        for number, line in numbered_lines(chunk, settings):
            if type(line) is LongLine:
                yield long_line(file, number, line)
                continue
            try:
                yield Row(file, number, _values(line, keys))
            except _BadLine as error:
                yield Rejection(file, number, str(error), shown(line))


class _BadLine(ValueError):
    pass


def _values(line: bytes, keys: tuple[Any, ...]) -> tuple[bytes, ...]:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        raise _BadLine("line is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        reason = f"malformed JSON: {error.msg}" if line.strip() else "line is empty"
        raise _BadLine(reason) from None
    except (ValueError, RecursionError) as error:
        raise _BadLine(f"malformed JSON: {error}") from None
    if not isinstance(row, dict):
        raise _BadLine(f"expected a JSON object, received {type(row).__name__}")
    values = []
    for key in keys:
        if key not in row:
            raise _BadLine(f"no key {json.dumps(key)}")
        value = row[key]
        if not isinstance(value, str):
            raise _BadLine(f"{json.dumps(key)} must be a string, received {type(value).__name__}")
        # Half a surrogate pair stays invalid, and is rejected where the field is read.
        values.append(value.encode(errors="surrogatepass"))
    return tuple(values)
