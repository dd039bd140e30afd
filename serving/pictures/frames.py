"""Which frames of a clip were looked at, by each word or by all: Yao et al. (2015)."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from pairloom.serving.pictures.checks import (
    as_shares,
    checked_image,
    checked_texts,
    checked_weights,
)
from pairloom.serving.pictures.colors import BLUE, css_color, over_white
from pairloom.serving.pictures.drawing import (
    draw_lines_between,
    draw_shades,
    drawn_figure,
    shown_token,
    text_width,
    title_height,
    write_title,
)
from pairloom.serving.pictures.markup import NOTHING, figure_html, number, token_html
from pairloom.serving.pictures.png import png_uri
from pairloom.serving.pictures.resample import shrunk
from pairloom.serving.pictures.strips import MOST_SINGLE_CELLS, scale_html, strip_html

# More than these would be too small to look at; of longer clips every n-th is shown.
_MOST_THUMBNAILS = 24
_THUMBNAIL_PIXELS = 160
# In inches.
_FRAME_WIDTH, _NARROWEST, _WIDEST = 0.8, 5.0, 16.0
_WORD_HEIGHT, _BARS_HEIGHT, _MARGIN = 0.28, 1.1, 0.15
_BARS_CSS_HEIGHT = 64


def save_frames(
    path: str | Path,
    weights: Any,
    thumbnails: Any = None,
    words: Sequence[str] | None = None,
    title: str = "",
) -> None:
    """Draws weights over the frames of a clip as a PNG, below the frames if they are given.

    Each word has a strip that is dark at the frames it looked at; weights of frames alone are
    bars. The strongest weight is the darkest, or the highest. Frames count from 0.

    Args:
        path: Where the picture goes; it ends in .png.
        weights: `(words, frames)`, or `(frames,)`.
        thumbnails: `(frames, height, width, 3)`, uint8 or floats from 0 to 1.
        words: Names of the strips; without them the strips are numbered.
        title: Written above.

    Raises:
        ValueError: the arguments do not fit each other, or a weight is negative or not finite.
    """
    weights, thumbnails, names = _checked(weights, thumbnails, words)
    bars = weights.ndim == 1
    frames = weights.shape[-1]
    with drawn_figure(path, [title, *names]) as figure:
        labels = [shown_token(name) for name in names]
        left = max((text_width(figure, label, 10) for label in labels), default=0.35) + 0.2
        inner = min(_WIDEST, max(_NARROWEST, _FRAME_WIDTH * frames))
        strips = _BARS_HEIGHT if bars else _WORD_HEIGHT * max(1, len(names))
        shown = _shown_thumbnails(thumbnails)
        span = inner / max(1, len(shown))
        gap = 0.04 * span
        images = 0.0
        if shown:
            pixel_height, pixel_width = shown[0][1].shape[:2]
            images = (span - 2 * gap) * pixel_height / pixel_width + 2 * gap
        width = left + inner + _MARGIN
        top = title_height(title, width) + _MARGIN
        below = 0.45
        height = top + images + strips + below
        figure.set_size_inches(width, height)
        write_title(figure, title)
        if not frames or not weights.size:
            figure.text(0.5, 0.5, NOTHING, ha="center", va="center")
            return
        for index, (_, image) in enumerate(shown):
            axes = figure.add_axes(
                (
                    (left + index * span + gap) / width,
                    (below + strips + gap) / height,
                    (span - 2 * gap) / width,
                    (images - 2 * gap) / height,
                )
            )
            axes.set_axis_off()
            axes.imshow(image, aspect="auto")
        axes = figure.add_axes(
            (left / width, below / height, inner / width, strips / height), label="weights"
        )
        if bars:
            axes.bar(range(frames), weights, width=0.85, color=over_white(BLUE, 0.9))
            axes.set_ylim(0, 1.08 * (weights.max() or 1.0))
            axes.locator_params(axis="y", nbins=3)
            axes.tick_params(labelsize=8, length=2)
            axes.spines[["top", "right", "left"]].set_visible(False)
        else:
            draw_shades(axes, weights)
            axes.set_yticks(range(len(labels)), labels, fontsize=10)
            # Columns touch: a clip goes on between its frames.
            draw_lines_between(axes, len(labels), 1)
        axes.set_xlim(-0.5, frames - 0.5)
        step = max(1, ceil(frames / 32))
        axes.set_xticks(range(0, frames, step))
        axes.tick_params(axis="x", labelsize=8)
        axes.set_xlabel("frame", fontsize=9, labelpad=2)


def frames_html(
    weights: Any,
    thumbnails: Any = None,
    words: Sequence[str] | None = None,
    title: str = "",
) -> str:
    """The strips or bars as a fragment of HTML; pointing at a frame tells its weight.

    Args:
        weights: `(words, frames)`, or `(frames,)`.
        thumbnails: `(frames, height, width, 3)`, uint8 or floats from 0 to 1.
        words: Names of the strips; without them the strips are numbered.
        title: Written above.

    Raises:
        ValueError: as of `save_frames`.
    """
    weights, thumbnails, names = _checked(weights, thumbnails, words)
    frames = weights.shape[-1]
    label = f"Attention to {frames} frames" + (f" of {len(names)} words" if names else "")
    if not weights.size:
        return figure_html(NOTHING, label, title)
    rows = np.atleast_2d(weights)
    shares = as_shares(rows)
    numbers = [f"frame {frame}" for frame in range(frames)]
    if names:
        words_html = [token_html(name) for name in names]
        joined = weights.size > MOST_SINGLE_CELLS
        lines = "".join(
            f'<span style="text-align:right;white-space:nowrap;padding-right:8px">{word}</span>'
            + strip_html(row, row_shares, numbers, f"{word}, ", joined)
            for word, row, row_shares in zip(words_html, rows, shares)
        )
    else:
        words_html = ["all"]
        lines = "<span></span>" + "".join(
            f'<i style="display:flex;align-items:flex-end;height:{_BARS_CSS_HEIGHT}px" '
            f'title="{name}: {number(weight)}"><b style="flex:1;height:{100 * share:.1f}%;'
            f'background:{css_color(BLUE, 1)}"></b></i>'
            for name, weight, share in zip(numbers, rows[0], shares[0])
        )
    told = ", ".join(
        f"{word}: {numbers[row.argmax()]}" for word, row in zip(words_html, rows) if row.any()
    )
    gap = 1 if frames <= 100 else 0
    return figure_html(
        f'<div role="img" aria-label="The strongest of each: {told}" '
        f'style="display:grid;column-gap:{gap}px;row-gap:1px;'
        f"max-width:{max(640, 64 * min(frames, 18))}px;font-size:13px;line-height:22px;"
        f'grid-template-columns:auto repeat({frames},minmax({3 - gap}px,1fr))">'
        f"{_thumbnails_html(thumbnails, frames)}{lines}{_numbers_html(frames)}</div>"
        + (scale_html(weights.max()) if names else ""),
        label,
        title,
    )


def _checked(
    weights: Any, thumbnails: Any, words: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    weights = checked_weights("weights", weights)
    if weights.ndim not in (1, 2):
        raise ValueError(
            f"`weights` must be (words, frames) or (frames,). Received: shape {weights.shape}."
        )
    if words is not None:
        names = checked_texts("words", words)
        if weights.ndim == 1:
            raise ValueError(
                f"`weights` must be (words, frames) with words. Received: shape {weights.shape}."
            )
        if len(names) != len(weights):
            raise ValueError(
                f"`weights` must have a row for each of the {len(names)} words. "
                f"Received: shape {weights.shape}."
            )
    else:
        names = [str(row + 1) for row in range(len(weights))] if weights.ndim == 2 else []
    if thumbnails is not None:
        thumbnails = checked_image("thumbnails", thumbnails, 4)
        if len(thumbnails) != weights.shape[-1]:
            raise ValueError(
                f"`thumbnails` must be one for each of the {weights.shape[-1]} frames. "
                f"Received: {len(thumbnails)}."
            )
    return weights, thumbnails, names


def _shown_thumbnails(thumbnails: np.ndarray | None) -> list[tuple[int, np.ndarray]]:
    """Numbers of the frames that are shown, and the frames, small.

    Each stands for as many frames as the others and is the one in their middle.
    """
    if thumbnails is None or not len(thumbnails):
        return []
    count = min(_MOST_THUMBNAILS, len(thumbnails))
    middles = ((np.arange(count) + 0.5) * len(thumbnails) / count).astype(int)
    return [(int(i), shrunk(thumbnails[i], _THUMBNAIL_PIXELS)) for i in middles]


def _thumbnails_html(thumbnails: np.ndarray | None, frames: int) -> str:
    shown = _shown_thumbnails(thumbnails)
    if not shown:
        return ""
    images = "".join(
        f'<img alt="frame {frame}" title="frame {frame}" src="{png_uri(image)}" '
        'style="flex:1;min-width:0;width:0;margin:0 1px;border-radius:2px">'
        for frame, image in shown
    )
    return (
        f'<span></span><div style="grid-column:span {frames};display:flex;align-items:flex-end;'
        f'min-width:0">{images}</div>'
    )


def _numbers_html(frames: int) -> str:
    step = max(1, ceil(frames / 30))
    return "<span></span>" + "".join(
        f'<span style="grid-column:span {min(step, frames - first)};min-width:0;'
        f"overflow:hidden;text-align:{'center' if step == 1 else 'left'};font-size:11px;"
        f'opacity:.7">{first}</span>'
        for first in range(0, frames, step)
    )
