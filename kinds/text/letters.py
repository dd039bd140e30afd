"""Characters taken apart into their letters: a Hangul syllable, an accented vowel.

As tables of SentencePiece: its model takes a text apart before it is cut into pieces, and puts what
it writes together again, in the graph as anywhere else.
"""

import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["composing_file", "letters_of", "rule_files"]


def letters_of(text: str) -> str:
    """A text's letters: NFKD, as the tables have it."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text)


@contextmanager
def rule_files() -> Iterator[dict[str, str]]:
    """What the trainer of SentencePiece is told: the files of both tables."""
    with _file_of(_taken_apart()) as apart, _file_of(_put_together()) as together:
        yield {"normalization_rule_tsv": apart, "denormalization_rule_tsv": together}


@contextmanager
def composing_file() -> Iterator[dict[str, str]]:
    """The same where a text's letters are to be put together, as NFC does, and nothing else."""
    with _file_of(_put_together()) as together:
        yield {"normalization_rule_tsv": together}


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


@contextmanager
def _file_of(rules: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Code points in hexadecimal, a tab between before and after."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="ascii") as file:
        for rule in rules:
            sides = (" ".join(f"{ord(character):X}" for character in side) for side in rule)
            file.write("\t".join(sides) + "\n")
        file.flush()
        yield file.name
