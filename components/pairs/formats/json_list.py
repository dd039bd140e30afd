"""JSON: a file that is one list of objects, else as JSON lines: `[{"source": "..."}, ...]`.

Objects are read one after another and not all at once; line breaks may be anywhere.
"""

import codecs
import json
import re
import zlib
from collections.abc import Iterator

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import open_bytes
from pairloom.components.pairs.formats.json_lines import JsonLines
from pairloom.components.pairs.lines import BLOCK, BOM
from pairloom.components.pairs.rows import Chunk
from pairloom.components.pairs.settings import PairSettings

__all__ = ["JsonList"]

_BETWEEN = re.compile(r"[\s,]*")


class JsonList(JsonLines):
    """One row an object; its line is the one that it begins in."""

    # Where an object begins depends on all that is before it.
    splittable = False

    def objects(self, chunk: Chunk, settings: PairSettings) -> Iterator[tuple[int, bytes]]:
        del settings
        file = chunk.files[0]
        try:
            for line, text in _entries(file):
                yield line, text.encode(errors="surrogateescape")
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"`{file}` cannot be read to its end: {error}.") from error


def _entries(file: str) -> Iterator[tuple[int, str]]:
    """Each entry of the list, still as text, with the line that it begins in."""
    decode, texts = json.JSONDecoder().raw_decode, _texts(file)
    rest, line, inside = "", 1, False
    for block in texts:
        rest, at = rest + block, 0
        while True:
            skipped = _BETWEEN.match(rest, at)
            assert skipped is not None
            line += skipped.group().count("\n")
            at = skipped.end()
            if at == len(rest):
                break
            if not inside:
                _expect_list(file, rest[at])
                inside, at = True, at + 1
            elif rest[at] == "]":
                return
            else:
                try:
                    _, end = decode(rest, at)
                except json.JSONDecodeError as error:
                    wrong = f"{error.msg}, in line {line}"
                    break
                yield line, rest[at:end]
                line += rest.count("\n", at, end)
                at = end
        rest = rest[at:]
    reason = wrong if rest else "the list has no end"
    raise DataError(f"`{file}` must be a list of JSON objects, `[{{...}}, ...]`: {reason}.")


def _expect_list(file: str, first: str) -> None:
    if first != "[":
        raise DataError(
            f"`{file}` must be a list of JSON objects, `[{{...}}, ...]`: it begins with {first!r}. "
            "If it has an object a line, its format is `jsonl`."
        )


def _texts(file: str) -> Iterator[str]:
    # Bytes that are not UTF-8 come out as surrogates, and their object is rejected.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with open_bytes(file) as opened:
        if opened.read(3) != BOM:
            opened.seek(0)
        while block := opened.read(BLOCK):
            yield decoder.decode(block)
