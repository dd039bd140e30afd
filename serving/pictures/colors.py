"""The two colours of the pictures and how strongly they are laid on.

HTML pictures lay them, more or less transparent, over whatever page they stand on. Both have a
relative luminance near 0.2, about halfway in contrast between black and white, so that the page's
own text stays readable on them whether the page is light or dark.
"""

Color = tuple[int, int, int]

BLUE: Color = (47, 122, 238)
RED: Color = (214, 64, 48)
INK = "#1f2328"
# Below 1 where there is text on top.
BEHIND_TEXT = 0.7


def css_color(color: Color, opacity: float) -> str:
    """The colour for a style: `#rrggbbaa`."""
    return "#" + "".join(f"{part:02x}" for part in (*color, round(255 * opacity)))


def over_white(color: Color, opacity: float) -> tuple[float, float, float]:
    """What the colour looks like on white, for Matplotlib: from 0 to 1."""
    red, green, blue = (1 - opacity * (1 - part / 255) for part in color)
    return red, green, blue


def signed(value: float) -> tuple[Color, float]:
    """Colour and strength of a value from -1 to 1: blue below zero, red above."""
    return (BLUE if value < 0 else RED), abs(value)
