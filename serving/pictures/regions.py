"""Where in an image each word looked: the figures of Xu et al. (2015)."""

from collections.abc import Sequence
from html import escape
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from pairloom.serving.pictures.checks import checked_image, checked_texts, checked_weights
from pairloom.serving.pictures.drawing import (
    drawn_figure,
    shown_token,
    title_height,
    write_title,
)
from pairloom.serving.pictures.markup import figure_html, number, token_html
from pairloom.serving.pictures.png import png_uri
from pairloom.serving.pictures.resample import shrunk, spread

# How much of the image the veil takes away where nothing is attended, and where all is.
_DARKEST, _BRIGHTEST = 0.78, 0.3
_LONGEST_SIDE = 480
# In inches.
_PANEL_WIDTH, _CAPTION, _GAP = 1.9, 0.32, 0.12
_PANEL_CSS_WIDTH = 180


def save_regions(
    path: str | Path,
    weights: Any,
    image: Any,
    words: Sequence[str],
    grid: tuple[int, int] | None = None,
    title: str = "",
) -> None:
    """Draws the image, and once more for each word: bright where it looked, dark elsewhere.

    The weights are spread smoothly over the image. Each word's strongest point is the brightest
    of its panel.

    Args:
        path: Where the picture goes; it ends in .png.
        weights: `(words, rows, columns)`, or `(words, rows * columns)` with `grid`.
        image: `(height, width, 3)`, uint8 or floats from 0 to 1.
        words: A caption for each panel.
        grid: `(rows, columns)` of the weights.
        title: Written above.

    Raises:
        ValueError: the arguments do not fit each other, or a weight is negative or not finite.
    """
    weights, image, words = _checked(weights, image, words, grid)
    height, width = image.shape[:2]
    panels = [(image, "")] + [
        (veiled(image, veil(area, height, width)), shown_token(word))
        for area, word in zip(weights, words)
    ]
    # Near a square, and the last row as full as can be.
    panel_height = _PANEL_WIDTH * height / width
    columns = min(
        len(panels),
        max(5, ceil(sqrt(len(panels) * (panel_height + _CAPTION) / _PANEL_WIDTH))),
    )
    rows = ceil(len(panels) / columns)
    columns = ceil(len(panels) / rows)
    total_width = columns * (_PANEL_WIDTH + _GAP) + _GAP
    top = title_height(title, total_width) + _GAP
    total_height = top + rows * (panel_height + _CAPTION + _GAP)
    with drawn_figure(path, [title, *words]) as figure:
        figure.set_size_inches(total_width, total_height)
        write_title(figure, title)
        for index, (panel, caption) in enumerate(panels):
            row, column = divmod(index, columns)
            left = _GAP + column * (_PANEL_WIDTH + _GAP)
            bottom = total_height - top - row * (panel_height + _CAPTION + _GAP) - panel_height
            axes = figure.add_axes(
                (
                    left / total_width,
                    bottom / total_height,
                    _PANEL_WIDTH / total_width,
                    panel_height / total_height,
                )
            )
            axes.set_axis_off()
            axes.imshow(panel, aspect="auto", interpolation="bilinear")
            figure.text(
                (left + _PANEL_WIDTH / 2) / total_width,
                (bottom - 0.06) / total_height,
                caption,
                fontsize=11,
                ha="center",
                va="top",
            )


def regions_html(
    weights: Any,
    image: Any,
    words: Sequence[str],
    grid: tuple[int, int] | None = None,
    title: str = "",
) -> str:
    """The panels as a fragment of HTML; pointing at a region tells its weight.

    The image is in it once; each panel lays its own veil over it.

    Args:
        weights: `(words, rows, columns)`, or `(words, rows * columns)` with `grid`.
        image: `(height, width, 3)`, uint8 or floats from 0 to 1.
        words: A caption for each panel.
        grid: `(rows, columns)` of the weights.
        title: Written above.

    Raises:
        ValueError: as of `save_regions`.
    """
    weights, image, words = _checked(weights, image, words, grid)
    height, width = image.shape[:2]
    frame = (
        f"position:relative;aspect-ratio:{width}/{height};border-radius:4px;overflow:hidden;"
        "background:var(--pairloom-image) 0 0/100% 100% no-repeat"
    )
    panels = [f'<div role="img" aria-label="The image" style="{frame}"></div>'] + [
        _panel_html(area, word, frame) for area, word in zip(weights, words)
    ]
    body = "".join(
        f'<div style="width:{_PANEL_CSS_WIDTH}px;max-width:100%">{panel}</div>' for panel in panels
    )
    return figure_html(
        f'<div style="display:flex;flex-wrap:wrap;gap:12px">{body}</div>',
        f"Regions of an image that {len(words)} words looked at",
        title,
        f"--pairloom-image:url({png_uri(image)})",
    )


def veil(weights: np.ndarray, height: int, width: int) -> np.ndarray:
    """What is laid over an image: `(height, width, 2)`, uint8 grey and opacity.

    Black and nearly opaque where nothing is attended, white and thin where most is.
    """
    bright = spread(weights, height, width)
    opacity = _DARKEST + (_BRIGHTEST - _DARKEST) * bright
    return np.rint(255 * np.stack([bright, opacity], -1)).astype(np.uint8)


def veiled(image: np.ndarray, over: np.ndarray) -> np.ndarray:
    """The image under a veil of its own size, uint8."""
    grey, opacity = over[..., :1].astype(float), over[..., 1:] / 255
    return np.rint(image * (1 - opacity) + grey * opacity).astype(np.uint8)


def _panel_html(weights: np.ndarray, word: str, frame: str) -> str:
    rows, columns = weights.shape
    # A browser smooths what it enlarges, so that a few pixels a cell are enough.
    size = max(4, min(8, 256 // max(rows, columns)))
    overlay = png_uri(veil(weights, rows * size, columns * size))
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    caption = token_html(word)
    told = f"{caption}: nothing"
    if weights.any():
        told = f"{caption}: strongest in row {row + 1} of {rows}, column {column + 1} of {columns}"
    cells = "".join(f'<i title="{escape(number(weight))}"></i>' for weight in weights.ravel())
    whole = "position:absolute;top:0;left:0;width:100%;height:100%;margin:0"
    return (
        f'<div style="{frame}">'
        f'<img alt="{told}" src="{overlay}" style="{whole};max-width:none">'
        f'<div aria-hidden="true" style="{whole};display:grid;'
        f'grid-template:repeat({rows},1fr)/repeat({columns},1fr)">{cells}</div></div>'
        f'<div dir="auto" style="text-align:center;overflow-wrap:anywhere">{caption}</div>'
    )


def _checked(
    weights: Any, image: Any, words: Sequence[str], grid: tuple[int, int] | None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    words = checked_texts("words", words)
    image = shrunk(checked_image("image", image), _LONGEST_SIDE)
    weights = checked_weights("weights", weights)
    shape = weights.shape
    if weights.ndim == 2 and grid is not None:
        if grid[0] * grid[1] != shape[1]:
            raise ValueError(
                f"`grid` must have as many cells as the weights of a word, {shape[1]}. "
                f"Received: grid={grid}."
            )
        weights = weights.reshape(shape[0], *grid)
    if weights.ndim != 3 or 0 in weights.shape[1:]:
        raise ValueError(
            "`weights` must be (words, rows, columns), or (words, rows * columns) with "
            f"grid=(rows, columns). Received: shape {shape}, grid={grid}."
        )
    if grid is not None and weights.shape[1:] != tuple(grid):
        raise ValueError(
            f"`grid` must be that of the weights, {weights.shape[1:]}. Received: grid={grid}."
        )
    if len(weights) != len(words):
        raise ValueError(
            f"`weights` must have a map for each of the {len(words)} words. "
            f"Received: shape {shape}."
        )
    return weights, image, words
