"""A model's tokens as people read them: in the terminal, in pictures, by one rule on the page.

`serving/page/views/bytes.js` and `tokens.js` are this in JavaScript; a test compares the two.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

WORD_MARK = "▁"
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_END = "</s>"


class Piece(NamedTuple):
    """What is shown for one token, or for the bytes of one letter.

    Args:
        text: Without SentencePiece's mark.
        start: The first of the tokens that it stands for.
        end: The one behind the last of them.
        begins: Whether a word begins with it.
    """

    text: str
    start: int
    end: int
    begins: bool


def shown_pieces(tokens: Sequence[str]) -> list[Piece]:
    """What to show for each token.

    `["▁new", "er", "▁", "<0xC3>", "<0xA9>", "</s>"]` becomes `new`, `er`, `␣`, `é`, `end`. Letters
    that a vocabulary lacks reach a model as bytes; those that make no letter stay as they are.
    """
    pieces = []
    start = 0
    while start < len(tokens):
        size = _letter_size(tokens[start])
        letter = _decoded(tokens[start : start + size]) if size > 1 else None
        end = start + (1 if letter is None else size)
        token = tokens[start] if letter is None else letter
        begins = not start or token == _END or token.startswith(WORD_MARK)
        pieces.append(Piece(_text(token), start, end, begins))
        start = end
    return pieces


def over_pieces(
    weights: np.ndarray, target: Sequence[Piece], source: Sequence[Piece]
) -> np.ndarray:
    """Weights `(target, source)` of tokens as those of pieces.

    A letter read gets the sum of its bytes' weights, a letter written the mean of its bytes'.
    """
    if not (len(target) and len(source)):
        return np.zeros((len(target), len(source)))
    read = np.add.reduceat(weights, [piece.start for piece in source], axis=1)
    written = np.add.reduceat(read, [piece.start for piece in target], axis=0)
    made: np.ndarray = written / np.array([piece.end - piece.start for piece in target])[:, None]
    return made


def printable(text: str) -> str:
    """A token as it may be shown: whatever could move the cursor becomes a visible sign."""
    return "".join(_visible(character) for character in text) or "∅"


def _text(token: str) -> str:
    if token == _END:
        return "end"
    if token in ("", WORD_MARK):
        return printable(token.replace(WORD_MARK, " "))
    return printable(token.removeprefix(WORD_MARK).replace(WORD_MARK, " "))


def _visible(character: str) -> str:
    if character == " ":
        return "␣"
    category = unicodedata.category(character)
    # Zero-width joiners stay, as emoji and Indic scripts need them.
    if category == "Cf" and character in "\u200c\u200d":
        return character
    return "\ufffd" if category in ("Cc", "Cf", "Cn", "Cs", "Zl", "Zp") else character


def _letter_size(token: str) -> int:
    """How many bytes the letter has that begins with this token; 0 if none does."""
    found = _BYTE.fullmatch(token)
    first = int(found[1], 16) if found else 0
    if first >= 0xF0:
        return 4
    if first >= 0xE0:
        return 3
    return 2 if first >= 0xC2 else 0


def _decoded(tokens: Sequence[str]) -> str | None:
    found = [_BYTE.fullmatch(token) for token in tokens]
    try:
        return bytes(int(byte[1], 16) for byte in found if byte).decode("utf-8")
    except UnicodeDecodeError:
        return None
