"""Which source tokens each target token looked at: the heat map of Bahdanau et al. (2015)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pairloom.kinds.heatmap import display_width
from pairloom.kinds.pieces import over_pieces, shown_pieces
from pairloom.serving.pictures.checks import as_shares, checked_texts, checked_weights
from pairloom.serving.pictures.drawing import (
    draw_lines_between,
    draw_shades,
    drawn_figure,
    shown_token,
    text_width,
    title_height,
    write_title,
)
from pairloom.serving.pictures.markup import NOTHING, figure_html, token_html
from pairloom.serving.pictures.strips import MOST_SINGLE_CELLS, scale_html, strip_html

# All in inches.
_CELL_WIDTH, _CELL_HEIGHT = 0.4, 0.3
_LARGEST_SIDE = 24.0
_SMALLEST_WIDTH = 3.0
_GAP = 0.12
_FONT_SIZE, _SMALLEST_FONT = 10.0, 5.0


def save_alignment(
    path: str | Path,
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str = "",
) -> None:
    """Draws an alignment as a PNG: a column a source token, a row a target token.

    The strongest weight is the darkest; a bar tells what the shades stand for. Cells of long
    texts are small, and of very long ones not every token has its label.

    Args:
        path: Where the picture goes; it ends in .png.
        weights: `(target, source)`, none negative.
        source_tokens: Names of the columns.
        target_tokens: Names of the rows.
        title: Written above.

    Raises:
        ValueError: the arguments do not fit each other, or a weight is negative or not finite.
    """
    weights, source, target = _checked(weights, source_tokens, target_tokens)
    rows, columns = max(1, len(target)), max(1, len(source))
    cell_width = min(_CELL_WIDTH, _LARGEST_SIDE / columns)
    cell_height = min(_CELL_HEIGHT, _LARGEST_SIDE / rows)
    source_size, source_step = _labels(cell_width)
    target_size, target_step = _labels(cell_height)
    with drawn_figure(path, [title, *source, *target]) as figure:
        source_labels = [shown_token(token) for token in source]
        target_labels = [shown_token(token) for token in target]
        upright = max(map(display_width, source_labels), default=0) <= 2
        widest = max((text_width(figure, t, target_size) for t in target_labels), default=0)
        tallest = max((text_width(figure, t, source_size) for t in source_labels), default=0)
        above = (0.2 if upright else tallest) + _GAP
        left = widest + 2 * _GAP
        map_width, map_height = cell_width * columns, cell_height * rows
        width = left + map_width + 0.75
        if width < _SMALLEST_WIDTH:
            left += (_SMALLEST_WIDTH - width) / 2
            width = _SMALLEST_WIDTH
        top = title_height(title, width) + _GAP
        height = top + above + map_height + _GAP
        figure.set_size_inches(width, height)
        write_title(figure, title)
        axes = figure.add_axes(
            (left / width, _GAP / height, map_width / width, map_height / height)
        )
        axes.set_axis_off()
        if not weights.size:
            axes.text(0.5, 0.5, NOTHING, transform=axes.transAxes, ha="center", va="center")
            return
        axes.set_axis_on()
        drawn = draw_shades(axes, weights)
        axes.xaxis.tick_top()
        across, down = range(0, columns, source_step), range(0, rows, target_step)
        axes.set_xticks(across, [source_labels[i] for i in across], fontsize=source_size)
        axes.set_yticks(down, [target_labels[i] for i in down], fontsize=target_size)
        axes.tick_params(axis="x", rotation=0 if upright else 90, length=0)
        if min(cell_width, cell_height) > 0.15:
            draw_lines_between(axes, rows, columns)
        bar_height = min(map_height, 2.5)
        bar = figure.add_axes(
            (
                (left + map_width + 0.15) / width,
                (_GAP + map_height - bar_height) / height,
                0.12 / width,
                bar_height / height,
            )
        )
        figure.colorbar(drawn, cax=bar)
        bar.locator_params(axis="y", nbins=5 if bar_height > 1 else 2)
        bar.tick_params(labelsize=8, length=2)
        bar.spines[:].set_visible(False)


def alignment_html(
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str = "",
) -> str:
    """The alignment as a fragment of HTML; pointing at a cell tells its tokens and its weight.

    In a very large one, neighbours too weak to be seen are one cell, which tells the strongest.

    Args:
        weights: `(target, source)`, none negative.
        source_tokens: Names of the columns.
        target_tokens: Names of the rows.
        title: Written above.

    Raises:
        ValueError: as of `save_alignment`.
    """
    weights, source, target = _checked(weights, source_tokens, target_tokens)
    label = f"Attention of {len(target)} target tokens to {len(source)} source tokens"
    if not weights.size:
        return figure_html(NOTHING, label, title)
    columns = [token_html(token) for token in source]
    rows = [token_html(token) for token in target]
    turned = max(map(display_width, source)) > 2
    mode = "writing-mode:vertical-rl;" if turned else ""
    heads = "".join(
        f'<span style="{mode}align-self:end;justify-self:center;padding-bottom:4px;'
        f'white-space:nowrap">{token}</span>'
        for token in columns
    )
    joined = weights.size > MOST_SINGLE_CELLS
    lines = "".join(
        f'<span style="text-align:right;white-space:nowrap;padding-right:6px">{row}</span>'
        + strip_html(numbers, shares, columns, f"{row} ← ", joined)
        for row, numbers, shares in zip(rows, weights, as_shares(weights))
    )
    strongest = ", ".join(
        f"{row} ← {columns[int(numbers.argmax())]}"
        for row, numbers in zip(rows, weights)
        if numbers.any()
    )
    return figure_html(
        f'<div role="img" aria-label="The strongest of each: {strongest}" '
        'style="display:inline-grid;gap:1px;font-size:13px;line-height:20px;'
        f"grid-template-columns:auto repeat({len(columns)},20px);"
        f'grid-template-rows:auto;grid-auto-rows:20px"><span></span>{heads}{lines}</div>'
        + scale_html(weights.max()),
        label,
        title,
    )


def _checked(
    weights: Any, source_tokens: Sequence[str], target_tokens: Sequence[str]
) -> tuple[np.ndarray, list[str], list[str]]:
    source = checked_texts("source_tokens", source_tokens)
    target = checked_texts("target_tokens", target_tokens)
    weights = checked_weights(
        "weights",
        weights,
        (len(target), len(source)),
        "a row for each target token and a column for each source token",
    )
    written, read = shown_pieces(target), shown_pieces(source)
    shown = over_pieces(weights, written, read)
    return shown, [piece.text for piece in read], [piece.text for piece in written]


def _labels(cell: float) -> tuple[float, int]:
    """Size of the labels in points, and of how many cells one has a label."""
    size = min(_FONT_SIZE, 72 * 0.85 * cell)
    if size >= _SMALLEST_FONT:
        return size, 1
    return _SMALLEST_FONT, int(np.ceil(_SMALLEST_FONT / size))
