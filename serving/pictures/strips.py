"""Rows of cells that are darker, or on a dark page brighter, the larger their weight."""

from collections.abc import Iterator, Sequence

import numpy as np

from pairloom.serving.pictures.colors import BLUE, css_color
from pairloom.serving.pictures.markup import number

# Above so many cells a page gets slow, and most of them have no visible colour.
MOST_SINGLE_CELLS = 5000
_FAINTEST = 0.5 / 255


def strip_html(
    weights: np.ndarray, shares: np.ndarray, names: Sequence[str], before: str, joined: bool
) -> str:
    """Cells of one row of a CSS grid; pointing at one tells its name and its weight.

    Args:
        weights: `(cells,)`, as they are told.
        shares: `(cells,)`, the same from 0 to 1, as they are shaded.
        names: One for each cell, as HTML.
        before: HTML before the name.
        joined: Whether neighbours too weak to be seen become one cell, which tells their
            strongest weight.
    """
    return "".join(
        _cell(weights[first], shares[first], before + names[first])
        if last == first
        else f'<i style="grid-column:span {last - first + 1}" title="{before}{names[first]} … '
        f'{names[last]}: at most {number(weights[first : last + 1].max())}"></i>'
        for first, last in _runs(shares, joined)
    )


def scale_html(strongest: float) -> str:
    """A bar that tells what the shades stand for."""
    ramp = f"linear-gradient(to right,transparent,{css_color(BLUE, 1)})"
    return (
        '<div aria-hidden="true" style="display:flex;gap:6px;align-items:center;margin-top:8px;'
        f'font-size:11px;line-height:1">0<i style="width:80px;height:8px;background:{ramp}"></i>'
        f"{strongest:.3g}</div>"
    )


def _runs(shares: np.ndarray, joined: bool) -> Iterator[tuple[int, int]]:
    """First and last cell of each run; a cell that is seen is a run of its own."""
    first = 0
    while first < len(shares):
        last = first
        if joined and shares[first] < _FAINTEST:
            while last + 1 < len(shares) and shares[last + 1] < _FAINTEST:
                last += 1
        yield first, last
        first = last + 1


def _cell(weight: float, share: float, told: str) -> str:
    return f'<i style="background:{css_color(BLUE, share)}" title="{told}: {number(weight)}"></i>'
