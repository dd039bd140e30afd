"""Characters taken apart into their letters: a Hangul syllable, an accented vowel.

As tables of SentencePiece: its model takes a text apart before it is cut into pieces, and puts what
it writes together again, in the graph as anywhere else.
"""

import os
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["letters_of", "rule_files"]


def letters_of(text: str) -> str:
    """A text's letters: NFKD, as the tables have it."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text)


@contextmanager
def rule_files() -> Iterator[dict[str, str]]:
    """What the trainer of SentencePiece is told: the files of both tables."""
    with tempfile.TemporaryDirectory() as folder:
        apart, together = (os.path.join(folder, name) for name in ("apart.tsv", "together.tsv"))
        _write(apart, _taken_apart())
        _write(together, _put_together())
        yield {"normalization_rule_tsv": apart, "denormalization_rule_tsv": together}


def _characters() -> Iterator[str]:
    for number in range(sys.maxunicode + 1):
        # Halves of surrogate pairs are no characters.
        if not 0xD800 <= number < 0xE000:
            yield chr(number)


def _taken_apart() -> Iterator[tuple[str, str]]:
    for character in _characters():
        if (letters := letters_of(character)) != character:
            yield character, letters


def _put_together() -> Iterator[tuple[str, str]]:
    for character in _characters():
        letters = unicodedata.normalize("NFD", character)
        if letters != character and unicodedata.normalize("NFC", letters) == character:
            yield letters, character


def _write(path: str, rules: Iterator[tuple[str, str]]) -> None:
    """Code points in hexadecimal, a tab between before and after."""
    with open(path, "w", encoding="ascii") as file:
        for rule in rules:
            sides = (" ".join(f"{ord(character):X}" for character in side) for side in rule)
            file.write("\t".join(sides) + "\n")
