"""Attention as a heat map in the terminal, from plain arrays, and the shades it is drawn in."""

import shutil
import unicodedata
from collections.abc import Sequence

import numpy as np

from pairloom.kinds.pieces import over_pieces, shown_pieces

_SHADES = " ·░▒▓█"
# Blocks in colours of the 256-colour palette, steel blue to orange. Blocks let the background
# through and the colours are neither light nor dark, so that faint looks faint on any terminal.
_COLORS = (
    (" ", 0),
    ("░", 67),
    ("▒", 67),
    ("▓", 67),
    ("█", 67),
    ("█", 73),
    ("█", 179),
    ("█", 208),
)
# Of words that are painted themselves: faint ones stay as they are.
_TEXT_COLORS = (0, 67, 73, 179, 208)
_WIDEST_TOKEN = 12
_NARROWEST_COLUMN = 4


def heatmap(
    weights: np.ndarray,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    width: int | None = None,
    color: bool = False,
) -> str:
    """Draws which source tokens each target token looked at.

    Source tokens stand across, target tokens down, as `pieces.py` shows them; the strongest weight
    of the map is the darkest shade. A map that is too wide first loses the ends of long tokens,
    then continues below with the remaining source tokens.

    ```
       h  i  gh
    HH ██
    AY ·· ▓▓
    .     ░░ ▒▒
    ```

    Args:
        weights: `(target, source)`, none negative.
        source_tokens: A label for each column.
        target_tokens: A label for each row.
        width: Columns of the terminal; by default those of the terminal in use.
        color: Whether to paint the shades in 256 colours, for a terminal.

    Returns:
        Lines without a line break at the end; an empty text without tokens.
    """
    weights = np.asarray(weights, np.float64)
    expected = (len(target_tokens), len(source_tokens))
    if weights.shape != expected:
        raise ValueError(
            f"`weights` must have a row for each target token and a column for each source token: "
            f"{expected}. Received: {weights.shape}."
        )
    if 0 in expected:
        return ""
    width = max(width or shutil.get_terminal_size().columns, 12)
    written, read = shown_pieces(target_tokens), shown_pieces(source_tokens)
    weights = over_pieces(np.nan_to_num(weights, nan=0.0, posinf=0.0), written, read)
    rows = [piece.text for piece in written]
    columns = [piece.text for piece in read]
    margin = min(max(map(display_width, rows)), max(_WIDEST_TOKEN, width // 4), width - 6)
    rows = [_fit(token, margin) for token in rows]
    sizes = _column_sizes(columns, width - margin - 1)
    levels = _levels(weights, len(_COLORS) if color else len(_SHADES))
    lines: list[str] = []
    start = 0
    while start < len(columns):
        end = _band_end(sizes, start, width - margin - 1)
        if lines:
            lines.append("")
        heads = [_fit(columns[i], sizes[i] - 1) for i in range(start, end)]
        lines.append(" " * (margin + 1) + " ".join(heads))
        for token, row in zip(rows, levels, strict=True):
            cells = [_cell(row[i], sizes[i], color) for i in range(start, end)]
            lines.append(f"{token} {''.join(cells)}")
        start = end
    return "\n".join(line.rstrip() for line in lines)


def shaded(share: float, width: int) -> str:
    """A strip of so many columns, the darker the larger a share in [0, 1] is."""
    return _SHADES[round(share * (len(_SHADES) - 1))] * width


def painted(share: float, text: str) -> str:
    """A text in the colour of a share in [0, 1], for a terminal."""
    number = _TEXT_COLORS[round(share * (len(_TEXT_COLORS) - 1))]
    return f"\x1b[38;5;{number}m{text}\x1b[0m" if number else text


def display_width(text: str) -> int:
    """Terminal columns that a text takes: Asian wide characters two, combining marks none."""
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fit(text: str, width: int) -> str:
    """Cuts or pads a text to exactly `width` terminal columns."""
    if display_width(text) > width:
        kept = ""
        for character in text:
            if display_width(kept + character) > width - 1:
                break
            kept += character
        text = kept + "…"
    return text + " " * (width - display_width(text))


def _column_sizes(columns: Sequence[str], room: int) -> list[int]:
    """Width of each column with its gap, narrowed until all fit or nothing more can be cut."""
    widths = [max(2, display_width(token)) + 1 for token in columns]
    cap = min(max(widths), _WIDEST_TOKEN + 1, max(3, room))
    while cap > _NARROWEST_COLUMN and sum(min(size, cap) for size in widths) - 1 > room:
        cap -= 1
    return [min(size, cap) for size in widths]


def _band_end(sizes: Sequence[int], start: int, room: int) -> int:
    end, used = start, 0
    while end < len(sizes) and (end == start or used + sizes[end] - 1 <= room):
        used += sizes[end]
        end += 1
    return end


def _levels(weights: np.ndarray, count: int) -> np.ndarray:
    weights = np.clip(weights, 0.0, None)
    strongest = weights.max()
    share = weights / strongest if strongest > 0 else weights
    return np.rint(share * (count - 1)).astype(int)


def _cell(level: int, size: int, color: bool) -> str:
    if not color:
        return _SHADES[level] * (size - 1) + " "
    block, number = _COLORS[level]
    if block == " ":
        return " " * size
    return f"\x1b[38;5;{number}m{block * (size - 1)}\x1b[0m "
