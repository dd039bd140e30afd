"""What is counted as a word."""

import unicodedata
from collections.abc import Iterator

__all__ = ["LONGEST", "composed", "normalized", "words_of"]

LONGEST = 200
"""Characters. Text without spaces comes as words of any length; SentencePiece would skip them."""


def normalized(text: str) -> str:
    """NFKC, as models of characters and subwords normalize what they are given."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def composed(text: str) -> str:
    """NFC: the same text, with letters and their accents in one."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def words_of(text: str, longest: int = LONGEST) -> Iterator[str]:
    """The words between white space, composed; one that is too long comes in parts."""
    for word in composed(text).split():
        if len(word) <= longest:
            yield word
        else:
            yield from (word[i : i + longest] for i in range(0, len(word), longest))
