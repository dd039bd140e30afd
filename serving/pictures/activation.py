"""What one unit says along a text: the figures of Karpathy et al. (2015)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairloom.kinds.heatmap import display_width
from pairloom.kinds.pieces import printable
from pairloom.serving.pictures.checks import checked_numbers, checked_texts
from pairloom.serving.pictures.colors import BEHIND_TEXT, css_color, over_white, signed
from pairloom.serving.pictures.drawing import (
    drawn_figure,
    text_width,
    title_height,
    write_title,
)
from pairloom.serving.pictures.markup import figure_html, number, token_html

_TAB = 4
_WIDEST_LINE = 100
_FONT_SIZE = 9
# In inches.
_LINE_HEIGHT, _MARGIN = 0.19, 0.2
_NARROWEST = 4.0
_LINE_BREAK = "↵"


class _Piece(NamedTuple):
    """A character with its marks, in its place on the page."""

    text: str
    value: float
    line: int
    column: int
    width: int


def save_activation(
    path: str | Path, activations: Any, tokens: Sequence[str], title: str = ""
) -> None:
    """Paints a unit's activation over a text as a PNG: blue below zero, red above.

    Line breaks and indentation stay; long lines go on below.

    Args:
        path: Where the picture goes; it ends in .png.
        activations: `(tokens,)`, from -1 to 1.
        tokens: The pieces of the text, with their spaces and line breaks. A plain text is
            painted character by character.
        title: Written above.

    Raises:
        ValueError: there is not one activation for each token, or one is outside -1 to 1.
    """
    values, tokens = _checked(activations, tokens)
    pieces = list(_pieces(values, tokens))
    lines = max((piece.line for piece in pieces), default=0) + 1
    columns = max((piece.column + piece.width for piece in pieces), default=1)
    with drawn_figure(path, [title, *tokens], family="monospace") as figure:
        advance = text_width(figure, "0" * 100, _FONT_SIZE) / 100
        width = max(_NARROWEST, columns * advance + 2 * _MARGIN)
        top = title_height(title, width) + _MARGIN
        height = top + lines * _LINE_HEIGHT + _MARGIN
        figure.set_size_inches(width, height)
        write_title(figure, title)
        axes = figure.add_axes(
            (
                _MARGIN / width,
                _MARGIN / height,
                columns * advance / width,
                lines * _LINE_HEIGHT / height,
            )
        )
        axes.set_axis_off()
        paint = np.ones((lines, columns, 3))
        for piece in pieces:
            color, strength = signed(piece.value)
            paint[piece.line, piece.column : piece.column + piece.width] = over_white(
                color, BEHIND_TEXT * strength
            )
        axes.imshow(paint, aspect="auto", interpolation="nearest", extent=(0, columns, lines, 0))
        for run in _runs(pieces):
            faint = run.text == _LINE_BREAK
            axes.text(
                run.column,
                run.line + 0.72,
                run.text,
                fontsize=_FONT_SIZE,
                va="baseline",
                alpha=0.35 if faint else None,
            )


def activation_html(activations: Any, tokens: Sequence[str], title: str = "") -> str:
    """The painted text as a fragment of HTML; pointing at a token tells its activation.

    Args:
        activations: `(tokens,)`, from -1 to 1.
        tokens: The pieces of the text, with their spaces and line breaks. A plain text is
            painted character by character.
        title: Written above.

    Raises:
        ValueError: as of `save_activation`.
    """
    values, tokens = _checked(activations, tokens)
    spans = "".join(
        f'<span style="background:{css_color(color, BEHIND_TEXT * strength)}" '
        f'title="{number(value)}">{_token_html(token)}</span>'
        for token, value in zip(tokens, values)
        for color, strength in [signed(value)]
    )
    return figure_html(
        f'<pre dir="auto" style="margin:0;padding:0;border:0;background:none;color:inherit;'
        f"font:13px/1.35 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        f'tab-size:{_TAB};white-space:pre-wrap;overflow-wrap:anywhere">{spans}</pre>',
        f"A text of {len(tokens)} tokens painted with the activation of one unit: "
        "blue below zero, red above",
        title,
    )


def _checked(activations: Any, tokens: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    texts = checked_texts("tokens", tokens)
    values = checked_numbers("activations", activations)
    if values.shape != (len(texts),):
        raise ValueError(
            f"`activations` must have one for each token: shape {(len(texts),)}. "
            f"Received: shape {values.shape}."
        )
    if values.size and np.abs(values).max() > 1:
        raise ValueError(
            f"`activations` must be from -1 to 1. Received: {values.min():g} to {values.max():g}."
        )
    return values, texts


def _characters(token: str) -> Iterator[str]:
    """Characters with the marks that follow them; what cannot be shown as a sign."""
    cluster = ""
    for character in token.replace("\r\n", "\n"):
        shown = character if character in " \n\t" else printable(character)
        if cluster and display_width(shown) == 0:
            cluster += shown
            continue
        if cluster:
            yield cluster
        cluster = shown
    if cluster:
        yield cluster


def _pieces(values: np.ndarray, tokens: list[str]) -> Iterator[_Piece]:
    line = column = 0
    for token, value in zip(tokens, values):
        for text in _characters(token):
            if text[0] == "\n":
                yield _Piece(_LINE_BREAK, float(value), line, column, 1)
                line, column = line + 1, 0
                continue
            width = _TAB - column % _TAB if text == "\t" else max(1, display_width(text))
            if column + width > _WIDEST_LINE:
                line, column = line + 1, 0
            yield _Piece(text, float(value), line, column, width)
            column += width


def _runs(pieces: list[_Piece]) -> Iterator[_Piece]:
    """Pieces of plain ASCII joined, as their font keeps them in their columns; others alone."""
    run: _Piece | None = None
    for piece in pieces:
        if piece.text.isspace():
            piece = piece._replace(text=" " * piece.width)
        plain = piece.text.isascii()
        if run and plain and run.line == piece.line:
            run = run._replace(text=run.text + piece.text)
            continue
        if run and not run.text.isspace():
            yield run
        run = piece if plain else None
        if not plain:
            yield piece
    if run and not run.text.isspace():
        yield run


def _token_html(token: str) -> str:
    broken = f'<span aria-hidden="true" style="opacity:.4;user-select:none">{_LINE_BREAK}</span>\n'
    return "".join(
        broken if text[0] == "\n" else text if text in " \t" else token_html(text)
        for text in _characters(token)
    )
