"""Matplotlib for the pictures: imported when one is drawn, the user's settings left alone."""

import textwrap
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairloom.kinds.pieces import printable
from pairloom.serving.pictures.colors import INK
from pairloom.serving.pictures.fonts import families_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

LARGEST_PIXELS = 8000
_DPI = 150
_TITLE_SIZE = 12
_SETTINGS: dict[str, object] = {
    # Literally: a dollar sign in a text is no formula.
    "text.parse_math": False,
    "text.usetex": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "white",
    "axes.grid": False,
    "figure.facecolor": "white",
    "path.effects": [],
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def drawn_figure(
    path: str | Path, texts: Iterable[str], family: str | None = None
) -> Iterator["Figure"]:
    """A figure to draw on; it is written to `path` when the block ends without an error.

    The block gives it its size, in inches. A figure too large for a screen gets fewer dots
    per inch. No global of Matplotlib is changed, its backend neither.

    Args:
        path: Where the PNG goes.
        texts: All that is to be written on it, for which fonts are looked for.
        family: A family of fonts, such as "monospace"; the user's by default.

    Raises:
        ValueError: the path does not end in .png.
    """
    if Path(path).suffix.lower() != ".png":
        raise ValueError(f"`path` must end in .png. Received: {path}.")
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            "A PNG needs Matplotlib: pip install 'pairloom[pictures]'. "
            "The functions that end in _html need nothing more."
        ) from error
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with warnings.catch_warnings(), matplotlib.rc_context():
        # A glyph that no font has is drawn as a box, of which `families_for` has told.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        wanted = [family] if family else list(matplotlib.rcParams["font.family"])
        matplotlib.rcParams.update({**_SETTINGS, "font.family": families_for(texts, wanted)})
        figure = Figure(dpi=_DPI)
        canvas = FigureCanvasAgg(figure)
        yield figure
        dpi = min(_DPI, LARGEST_PIXELS / max(figure.get_size_inches()))
        figure.set_dpi(dpi)
        canvas.print_png(str(path))


def text_width(figure: "Figure", text: str, size: float) -> float:
    """How wide a text is when drawn, in inches."""
    drawn = figure.text(0, 0, text, fontsize=size)
    width = drawn.get_window_extent().width / figure.dpi
    drawn.remove()
    return float(width)


def title_lines(title: str, width: float) -> str:
    """A title with line breaks, so that it fits a picture `width` inches wide."""
    return textwrap.fill(shown_text(title), max(20, int(width * 11)))


def title_height(title: str, width: float) -> float:
    """Inches that the title takes with the gap below it; none without a title."""
    lines = title_lines(title, width)
    return 0.22 * (lines.count("\n") + 1) + 0.05 if lines else 0.0


def write_title(figure: "Figure", title: str) -> None:
    """Writes the title on top of a figure that has its size."""
    width, height = figure.get_size_inches()
    if title:
        figure.text(
            0.5,
            1 - 0.1 / height,
            title_lines(title, width),
            fontsize=_TITLE_SIZE,
            ha="center",
            va="top",
        )


def draw_shades(axes: "Axes", weights: np.ndarray) -> "AxesImage":
    """Draws weights `(rows, columns)` as cells, the strongest the darkest, without a frame."""
    drawn = axes.imshow(
        weights,
        cmap="Blues",
        vmin=0.0,
        vmax=float(weights.max()) or 1.0,
        aspect="auto",
        interpolation="nearest",
        # Looks a colour up for each cell, not for each pixel, which takes seconds for long texts.
        interpolation_stage="rgba",
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawn


def draw_lines_between(axes: "Axes", rows: int, columns: int) -> None:
    """Parts drawn cells by white lines."""
    axes.set_yticks(np.arange(0.5, rows - 1), minor=True)
    axes.set_xticks(np.arange(0.5, columns - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="minor", length=0)


def shown_token(token: str, longest: int = 24) -> str:
    """A token as a label: no line break, no end without an ellipsis."""
    token = printable(token)
    return token if len(token) <= longest else token[: longest - 1] + "…"


def shown_text(text: str) -> str:
    """A text with its spaces, without what cannot be drawn."""
    return " ".join(printable(word) for word in unicodedata.normalize("NFC", text).split())
