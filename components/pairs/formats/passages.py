"""Running text, cut into passages: what a language model learns from.

A passage has about `options.length` characters and ends behind a line end, or else a space, where
one is near. Line ends inside it stay. Nothing is lost but the white space between two passages.
Neighbours are alike, so the split is by position and not by hash: with shares, the end of each file
is the test, what is before it the evaluation.
"""

import codecs
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import file_size, is_gzip, open_bytes
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.formats.single import SingleFile
from pairloom.components.pairs.lines import BLOCK, BOM
from pairloom.components.pairs.rows import Chunk, Rejection, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Passages", "cut_passages"]

NEAR = 4
"""A line end or a space is near if it is in the last quarter of a passage."""


class Passages(SingleFile):
    """A row a passage, one field."""

    # Where a passage begins depends on all that is before it.
    splittable = False
    options: Mapping[str, Option] = {"length": Option(256, at_least=8)}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("passages", settings, "the passage")
        length = option_values(self.options, settings.options)["length"]
        if length > settings.max_length:
            raise DataError(
                f"`data.options.length` must be at most `data.max_length`, {settings.max_length}. "
                f"Received: {length}."
            )
        return super().groups(source, named, settings)

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file = chunk.files[0]
        length = option_values(self.options, settings.options)["length"]
        try:
            size = _size(file)
            for line, start, text in cut_passages(_texts(file), length):
                yield Row(file, line, (text,), position=start / size)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"`{file}` cannot be read to its end: {error}.") from error


def cut_passages(texts: Iterable[str], length: int) -> Iterator[tuple[int, int, str]]:
    """Cuts a text.

    Args:
        texts: The text, in pieces of any size.
        length: Characters a passage, at most.

    Yields:
        Of each passage the number of its first line, the bytes before it, and itself.
    """
    rest, line, start = "", 1, 0
    for piece in chain(texts, [None]):
        rest += piece or ""
        begin = 0
        # A passage is cut only where all of it is known.
        while len(rest) - begin > length or (piece is None and begin < len(rest)):
            end = _end(rest, begin, begin + length)
            passage = rest[begin:end]
            if text := passage.strip():
                before = passage[: passage.index(text[0])]
                yield line + before.count("\n"), start + _bytes(before), text
            line += passage.count("\n")
            start += _bytes(passage)
            begin = end
        rest = rest[begin:]


def _end(text: str, begin: int, end: int) -> int:
    if end >= len(text):
        return len(text)
    near = end - (end - begin) // NEAR
    for mark in "\n ":
        at = text.rfind(mark, near, end)
        if at >= 0:
            return at + 1
    return end


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogateescape"))


def _texts(file: str) -> Iterator[str]:
    # Bytes that are not UTF-8 come out as surrogates, and are rejected where the field is read.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with open_bytes(file) as opened:
        if opened.read(3) != BOM:
            opened.seek(0)
        while block := opened.read(BLOCK):
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)


def _size(file: str) -> int:
    """The bytes of a file's content, which a gzip file does not tell reliably."""
    if not is_gzip(file):
        return file_size(file)
    with open_bytes(file) as opened:
        return sum(len(block) for block in iter(lambda: opened.read(BLOCK), b""))
