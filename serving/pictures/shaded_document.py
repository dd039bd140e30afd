"""Which words and sentences of a document mattered: the figures of Yang et al. (2016)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairloom.kinds.pieces import shown_pieces
from pairloom.serving.pictures.checks import as_shares, checked_texts, checked_weights
from pairloom.serving.pictures.colors import BEHIND_TEXT, BLUE, RED, css_color, over_white
from pairloom.serving.pictures.drawing import (
    drawn_figure,
    shown_token,
    text_width,
    title_height,
    write_title,
)
from pairloom.serving.pictures.markup import NOTHING, figure_html, number, token_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In inches, but the sizes of fonts.
_PAGE_WIDTH, _MARGIN = 9.0, 0.2
_WEIGHT_WIDTH = 0.5
_LINE_HEIGHT, _SENTENCE_GAP, _WORD_GAP = 0.27, 0.1, 0.03
_BEHIND_WEIGHT = _MARGIN + _WEIGHT_WIDTH + 0.15
_FONT_SIZE, _WEIGHT_SIZE = 11, 8


class _Word(NamedTuple):
    text: str
    share: float
    left: float
    width: float


class _Sentence(NamedTuple):
    lines: list[list[_Word]]
    weight: float | None
    share: float


def save_shaded_document(
    path: str | Path,
    word_weights: Sequence[Any],
    sentence_weights: Any | None,
    sentences: Sequence[Sequence[str]],
    title: str = "",
) -> None:
    """Draws a document as a PNG: red before each sentence, blue behind its words.

    A word is shaded by `sqrt(sentence weight) * word weight`, as Yang et al. (2016) do, so that
    words of sentences that did not matter stay pale. The strongest of each kind is the darkest.

    Args:
        path: Where the picture goes; it ends in .png.
        word_weights: For each sentence a weight for each of its words.
        sentence_weights: A weight for each sentence; None: words alone are weighted and shaded,
            as where nothing weighs sentences.
        sentences: The words of each sentence.
        title: Written above.

    Raises:
        ValueError: the arguments do not fit each other, or a weight is negative or not finite.
    """
    words, weights, texts = _checked(word_weights, sentence_weights, sentences)
    with drawn_figure(path, [title, *(word for text in texts for word in text)]) as figure:
        placed = [
            _Sentence(
                _lines(figure, text, shares, _MARGIN if weights is None else _BEHIND_WEIGHT),
                weight,
                share,
            )
            for text, shares, (weight, share) in zip(
                texts, _word_shares(words, weights), _marks(weights, len(texts))
            )
        ]
        top = title_height(title, _PAGE_WIDTH) + _MARGIN
        heights = [len(sentence.lines) * _LINE_HEIGHT + _SENTENCE_GAP for sentence in placed]
        height = top + (sum(heights) if placed else _LINE_HEIGHT) + _MARGIN
        figure.set_size_inches(_PAGE_WIDTH, height)
        write_title(figure, title)
        axes = figure.add_axes((0, 0, 1, 1))
        # In inches from the upper left corner, as one reads.
        axes.set_xlim(0, _PAGE_WIDTH)
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        if not placed:
            axes.text(_MARGIN, top, NOTHING, fontsize=_FONT_SIZE, va="top")
        for sentence, room in zip(placed, heights):
            _draw_sentence(axes, sentence, top)
            top += room


def shaded_document_html(
    word_weights: Sequence[Any],
    sentence_weights: Any | None,
    sentences: Sequence[Sequence[str]],
    title: str = "",
) -> str:
    """The document as a fragment of HTML; pointing at a word tells its weight.

    Args:
        word_weights: For each sentence a weight for each of its words.
        sentence_weights: A weight for each sentence; None: words alone are weighted and shaded,
            as where nothing weighs sentences.
        sentences: The words of each sentence.
        title: Written above.

    Raises:
        ValueError: as of `save_shaded_document`.
    """
    words, weights, texts = _checked(word_weights, sentence_weights, sentences)
    shares = zip(_word_shares(words, weights), _marks(weights, len(texts)))
    rows = []
    for text, inner, (word_shares, (weight, share)) in zip(texts, words, shares):
        marked = " ".join(
            f'<span style="background:{css_color(BLUE, BEHIND_TEXT * word_share)};'
            f'border-radius:3px;padding:1px 2px" title="{number(word_weight)}">'
            f"{token_html(word)}</span>"
            for word, word_weight, word_share in zip(text, inner, word_shares)
        )
        rows.append(
            f'<div style="display:flex;gap:10px;margin:0 0 6px">{_mark_html(weight, share)}'
            f'<div dir="auto" style="flex:1;min-width:0;overflow-wrap:anywhere;line-height:1.7">'
            f"{marked}</div></div>"
        )
    count = "1 sentence" if len(texts) == 1 else f"{len(texts)} sentences"
    shaded = "words" if weights is None else "words and sentences"
    label = f"A document of {count}, its {shaded} shaded by attention"
    return figure_html("".join(rows) or NOTHING, label, title)


def _mark_html(weight: float | None, share: float) -> str:
    """The weight of a sentence before it; nothing where it has none."""
    if weight is None:
        return ""
    return (
        '<div style="flex:none;width:3.4em;text-align:center;border-radius:3px;'
        "font-size:12px;line-height:1.9;font-variant-numeric:tabular-nums;"
        f'background:{css_color(RED, BEHIND_TEXT * share)}" '
        f'title="sentence: {number(weight)}">{weight:.2g}</div>'
    )


def _checked(
    word_weights: Sequence[Any], sentence_weights: Any | None, sentences: Sequence[Sequence[str]]
) -> tuple[list[np.ndarray], np.ndarray | None, list[list[str]]]:
    texts = []
    for index, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise ValueError(f"`sentences` must be lists of words. Received: {sentence!r}.")
        texts.append(checked_texts(f"sentences[{index}]", sentence))
    weights = sentence_weights
    if weights is not None:
        weights = checked_weights(
            "sentence_weights", weights, (len(texts),), "one for each sentence"
        )
    if len(word_weights) != len(texts):
        raise ValueError(
            f"`word_weights` must have an entry for each of the {len(texts)} sentences. "
            f"Received: {len(word_weights)}."
        )
    words = [
        checked_weights(f"word_weights[{i}]", inner, (len(text),), "one for each word")
        for i, (inner, text) in enumerate(zip(word_weights, texts))
    ]
    pieces = [shown_pieces(text) for text in texts]
    words = [
        np.add.reduceat(inner, [piece.start for piece in shown]) if shown else inner
        for inner, shown in zip(words, pieces)
    ]
    return words, weights, [[piece.text for piece in shown] for shown in pieces]


def _marks(weights: np.ndarray | None, count: int) -> list[tuple[float | None, float]]:
    """Each sentence's weight, and its share of the strongest."""
    if weights is None:
        return [(None, 0.0)] * count
    return list(zip(weights.tolist(), as_shares(weights).tolist()))


def _word_shares(words: list[np.ndarray], weights: np.ndarray | None) -> list[np.ndarray]:
    scaled = words
    if weights is not None:
        scaled = [np.sqrt(weight) * inner for inner, weight in zip(words, weights)]
    if not scaled:
        return []
    shares = as_shares(np.concatenate(scaled))
    return np.split(shares, np.cumsum([len(inner) for inner in scaled])[:-1])


def _lines(
    figure: "Figure", words: list[str], shares: np.ndarray, start: float
) -> list[list[_Word]]:
    """Words with their places from `start` on, broken into lines as a page is."""
    lines: list[list[_Word]] = [[]]
    left = start
    for word, share in zip(words, shares):
        text = shown_token(word, 60)
        width = text_width(figure, text, _FONT_SIZE) + 0.06
        if lines[-1] and left + width > _PAGE_WIDTH - _MARGIN:
            lines.append([])
            left = start
        lines[-1].append(_Word(text, float(share), left, width))
        left += width + _WORD_GAP
    return lines


def _draw_weight(axes: Any, sentence: _Sentence, top: float) -> None:
    from matplotlib.patches import Rectangle

    height = len(sentence.lines) * _LINE_HEIGHT
    color = over_white(RED, BEHIND_TEXT * sentence.share)
    axes.add_patch(
        Rectangle((_MARGIN, top), _WEIGHT_WIDTH, height - 0.03, facecolor=color, edgecolor="none")
    )
    axes.text(
        _MARGIN + _WEIGHT_WIDTH / 2,
        top + _LINE_HEIGHT / 2 - 0.015,
        f"{sentence.weight:.2g}",
        fontsize=_WEIGHT_SIZE,
        ha="center",
        va="center_baseline",
    )


def _draw_sentence(axes: Any, sentence: _Sentence, top: float) -> None:
    from matplotlib.patches import Rectangle

    if sentence.weight is not None:
        _draw_weight(axes, sentence, top)
    for line in sentence.lines:
        for word in line:
            axes.add_patch(
                Rectangle(
                    (word.left, top),
                    word.width,
                    _LINE_HEIGHT - 0.03,
                    facecolor=over_white(BLUE, BEHIND_TEXT * word.share),
                    edgecolor="none",
                )
            )
            axes.text(
                word.left + 0.03,
                top + _LINE_HEIGHT * 0.68,
                word.text,
                fontsize=_FONT_SIZE,
                va="baseline",
            )
        top += _LINE_HEIGHT
