import pytest

from pairloom.serving.pictures.colors import (
    BEHIND_TEXT,
    BLUE,
    RED,
    css_color,
    over_white,
    signed,
)


def luminance(color):
    """Relative luminance as WCAG 2 defines it."""
    parts = [part / 255 for part in color]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", [BLUE, RED])
@pytest.mark.parametrize(
    ("page", "text"), [((255, 255, 255), (31, 35, 40)), ((13, 17, 23), (230, 237, 243))]
)
def test_text_on_the_strongest_colour_is_readable_on_light_and_dark_pages(color, page, text):
    behind = [BEHIND_TEXT * c + (1 - BEHIND_TEXT) * p for c, p in zip(color, page)]
    # What WCAG 2 asks of text.
    assert contrast(behind, text) >= 4.5


def test_a_colour_with_its_opacity_has_eight_digits():
    assert css_color((1, 16, 255), 0.5) == "#0110ff80"
    assert css_color((1, 16, 255), 0) == "#0110ff00"


def test_on_white_a_colour_without_strength_is_white():
    assert over_white(RED, 0) == (1, 1, 1)
    assert over_white(RED, 1) == pytest.approx([part / 255 for part in RED])


def test_signs_have_their_colours():
    assert signed(-0.5) == (BLUE, 0.5)
    assert signed(0.5) == (RED, 0.5)
