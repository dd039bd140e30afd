"""Attention over sentences and their words, drawn in the terminal and into a file."""

import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pairloom.kinds.heatmap import display_width, heatmap, painted, shaded
from pairloom.kinds.looked import Looked, Picture
from pairloom.kinds.pieces import WORD_MARK, shown_pieces

__all__ = ["draw", "plan"]

_BAR = 8
_NARROWEST_TEXT = 16

Word = tuple[str, float]


def draw(
    looked: Looked, target_tokens: Sequence[str], width: int | None = None, color: bool = False
) -> str:
    """Every sentence with its number, a bar for its weight, and its words shaded by theirs.

    Where the answer has several tokens, the bars are the mean over them, and a heat map below tells
    them apart: the sentences' numbers across, the answer's tokens down.

    ```
    1 ██       It rained.
               ·· ██████·
    2 ████████ I loved it!
               · █████ ···
    ```

    Args:
        looked: The words of every sentence and the weights over sentences and over words.
        target_tokens: The answer's.
        width: Columns of the terminal; by default those of the terminal in use.
        color: Whether to paint in 256 colours; then the words themselves.

    Returns:
        Lines; an empty text where there is nothing to draw.
    """
    if not looked.tokens or (looked.attention is None and looked.inner is None):
        return ""
    width = width or shutil.get_terminal_size().columns
    digits = len(str(len(looked.tokens)))
    weights = None
    if looked.attention is not None and len(looked.attention):
        weights = np.nan_to_num(np.asarray(looked.attention, np.float64)).mean(0)
    margin = digits + 1 + (_BAR + 1 if weights is not None else 0)
    lines: list[str] = []
    for number, words in enumerate(_shaded(looked)):
        head = f"{number + 1:>{digits}} "
        if weights is not None:
            head += f"{_bar(weights[number], weights.max()):<{_BAR}} "
        for line in _rows(words, max(width - margin, _NARROWEST_TEXT), color):
            lines.append((head + line).rstrip())
            head = " " * margin
    if looked.attention is not None and len(target_tokens) > 1:
        numbers = [str(number + 1) for number in range(len(looked.tokens))]
        lines += ["", heatmap(looked.attention, numbers, target_tokens, width, color)]
    return "\n".join(lines)


def plan(looked: Looked, target_tokens: Sequence[str], value: Any) -> Picture | None:
    """The document with its sentences and words shaded; None where nothing was looked at.

    Args:
        looked: As of `draw`; where the answer has several tokens, the mean over them is drawn.
        target_tokens: The answer's.
        value: The document itself.
    """
    del target_tokens, value
    if not looked.tokens or (looked.attention is None and looked.inner is None):
        return None
    inner = [
        [0.0] * len(words) if looked.inner is None else looked.inner[place, : len(words)]
        for place, words in enumerate(looked.tokens)
    ]
    weights = None if looked.attention is None else looked.attention.mean(0)
    arguments = {"word_weights": inner, "sentence_weights": weights, "sentences": looked.tokens}
    return Picture("shaded_document", arguments)


def _shaded(looked: Looked) -> Iterator[list[Word]]:
    """Every sentence's words with their shares of the heaviest word's weight in it."""
    for place, tokens in enumerate(looked.tokens):
        pieces = shown_pieces(tokens)
        shares = np.zeros(len(pieces))
        if looked.inner is not None and pieces:
            weights = np.nan_to_num(looked.inner[place, : len(tokens)].astype(np.float64))
            weights = np.add.reduceat(weights, [piece.start for piece in pieces])
            shares = np.clip(weights / max(weights.max(initial=0.0), 1e-12), 0.0, 1.0)
        # Without any mark each token is a word.
        marked = any(token.startswith(WORD_MARK) for token in tokens)
        words = [f" {one.text}" if one.begins or not marked else one.text for one in pieces]
        yield list(zip(words, shares.tolist()))


def _rows(words: Sequence[Word], room: int, color: bool) -> Iterator[str]:
    """The words in lines no wider than `room`; without colour a line of shades below each."""
    line: list[Word] = []
    used = 0
    for word in words:
        wide = display_width(word[0])
        if line and used + wide > room:
            yield from _row(line, color)
            line, used = [], 0
        text = word[0] if line else word[0].removeprefix(" ")
        line.append((text, word[1]))
        used += display_width(text)
    yield from _row(line, color)


def _row(line: Sequence[Word], color: bool) -> Iterator[str]:
    above = below = ""
    for text, share in line:
        word = text.removeprefix(" ")
        gap = " " * (len(text) - len(word))
        above += gap + (painted(share, word) if color else word)
        below += gap + shaded(share, display_width(word))
    yield above
    if not color and below.strip():
        yield below


def _bar(weight: float, heaviest: float) -> str:
    eighths = round(_BAR * 8 * max(float(weight), 0.0) / heaviest) if heaviest > 0 else 0
    return "█" * (eighths // 8) + ["", *"▏▎▍▌▋▊▉"][eighths % 8]
