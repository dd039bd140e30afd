"""Where a model looked in an image, drawn in the terminal and into a file."""

import shutil
from collections.abc import Iterator, Sequence

import numpy as np

from pairloom.kinds.heatmap import display_width, shaded
from pairloom.kinds.image.showing import as_pixels
from pairloom.kinds.looked import Looked, Picture
from pairloom.kinds.pieces import shown_pieces

__all__ = ["draw", "plan"]

# Letters are about twice as high as wide.
_CELL = 2
_GAP = 2
_LONGEST_SIDE = 640


def draw(
    looked: Looked, target_tokens: Sequence[str], width: int | None = None, color: bool = False
) -> str:
    """The grid that lies over the image, once for each token, the darker the more it looked there.

    ```
    a         dog
    ··░░····  ········
    ··██░░··  ░░██░░··
    ```

    Args:
        looked: The weights and their grid.
        target_tokens: The answer's.
        width: Columns of the terminal; by default those of the terminal in use.
        color: Makes no difference: shades tell it.

    Returns:
        Lines; an empty text where there is nothing to draw.
    """
    del color
    if looked.maps is None or not target_tokens:
        return ""
    width = width or shutil.get_terminal_size().columns
    names, maps = _named(looked.maps, target_tokens)
    panels = [list(_panel(area, name)) for area, name in zip(maps, names)]
    beside = max(1, (width + _GAP) // (_width(looked.maps) + _GAP))
    blocks = (panels[start : start + beside] for start in range(0, len(panels), beside))
    return "\n\n".join(
        "\n".join((" " * _GAP).join(line).rstrip() for line in zip(*block)) for block in blocks
    )


def plan(looked: Looked, target_tokens: Sequence[str], value: bytes) -> Picture | None:
    """The image, and once more for each token, bright where it looked.

    Args:
        looked: As of `draw`.
        target_tokens: The answer's.
        value: The encoded image.

    Returns:
        None where there is nothing to draw.
    """
    if looked.maps is None or not target_tokens:
        return None
    names, maps = _named(looked.maps, target_tokens)
    arguments = {"weights": maps, "image": as_pixels(value, _LONGEST_SIDE), "words": names}
    return Picture("regions", arguments)


def _named(maps: np.ndarray, tokens: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """What is shown of the tokens, and the map of each; a letter has the mean of its bytes'."""
    pieces = shown_pieces(tokens)
    means = [maps[piece.start : piece.end].mean(0) for piece in pieces]
    return [piece.text for piece in pieces], np.stack(means)


def _panel(area: np.ndarray, name: str) -> Iterator[str]:
    wide, shown = _width(area), name
    while display_width(shown) > wide:
        shown = shown[:-1]
    yield shown + " " * (wide - display_width(shown))
    strongest = max(float(area.max()), 1e-12)
    for row in area:
        # Empty regions are part of the picture too.
        yield "".join(_cell(float(weight) / strongest) for weight in row)


def _cell(share: float) -> str:
    return shaded(share, _CELL).replace(" ", "·")


def _width(areas: np.ndarray) -> int:
    return areas.shape[-1] * _CELL
