import re

import numpy as np
import pytest

from pairloom.serving.pictures import regions_html, save_regions
from pairloom.serving.pictures.regions import veil, veiled

GREY = np.full((60, 80, 3), 128, np.uint8)
CORNERS = np.zeros((2, 3, 4))
CORNERS[0, 0, 0] = 0.7
CORNERS[1, 2, 3] = 0.2


def test_an_attended_region_is_brighter_than_the_image_and_others_are_darker():
    shown = veiled(GREY, veil(CORNERS[0], 60, 80)).mean(-1)
    assert shown[:10, :10].min() > 128
    assert shown[30:, 40:].max() < 40


def test_brightness_falls_smoothly_from_the_attended_region():
    line = veil(CORNERS[0], 60, 80)[5, :, 0].astype(int)
    steps = np.diff(line)
    assert (steps <= 0).all() and steps.min() > -20


def test_nothing_attended_is_dark_everywhere_and_everything_is_bright_everywhere():
    for value, low, high in [(0.0, 0, 60), (0.1, 130, 255)]:
        shown = veiled(GREY, veil(np.full((3, 4), value), 60, 80))
        assert low <= shown.min() and shown.max() <= high


def test_each_panel_of_the_picture_is_bright_where_its_word_looked(tmp_path, pixels):
    save_regions(tmp_path / "a.png", CORNERS, GREY, ["up", "down"])
    picture = pixels(tmp_path / "a.png").mean(-1)
    # Panels stand side by side: the image, "up", "down", each about a third of the width.
    third = picture.shape[1] // 3
    top, bottom = slice(25, 60), slice(180, 215)
    first, second = picture[:, third : 2 * third], picture[:, 2 * third :]
    assert first[top, 30:60].mean() > 0.5 > first[bottom, -60:-30].mean() + 0.2
    assert second[bottom, -60:-30].mean() > 0.5 > second[top, 30:60].mean() + 0.2


def test_the_image_is_in_the_html_once_and_each_word_has_an_overlay(parse):
    html = regions_html(CORNERS, GREY, ["up", "<down>"], title="t")
    elements = parse(html)
    assert html.count("--pairloom-image:url(") == 1
    assert html.count("data:image/png") == 3
    alts = [attributes["alt"] for tag, attributes, _ in elements if tag == "img"]
    assert alts == [
        "up: strongest in row 1 of 3, column 1 of 4",
        "<down>: strongest in row 3 of 3, column 4 of 4",
    ]
    weights = [float(a["title"]) for tag, a, _ in elements if tag == "i"]
    assert weights == CORNERS.ravel().tolist()
    assert "<down>" in [text for _, _, text in elements]


def test_a_word_that_looked_nowhere_is_said_to(parse):
    html = regions_html(np.zeros((1, 2, 2)), GREY, ["a"])
    assert [a["alt"] for tag, a, _ in parse(html) if tag == "img"] == ["a: nothing"]


def test_flat_weights_with_a_grid_are_the_same(tmp_path):
    flat = CORNERS.reshape(2, 12)
    assert regions_html(flat, GREY, "ab", grid=(3, 4)) == regions_html(CORNERS, GREY, "ab")


def test_floats_and_bytes_are_the_same_image():
    assert regions_html(CORNERS, GREY / 255, "ab") == regions_html(CORNERS, GREY, "ab")


def test_a_large_photograph_does_not_make_a_large_page():
    photograph = np.random.default_rng(0).integers(0, 256, (900, 1600, 3), dtype=np.uint8)
    html = regions_html(CORNERS, photograph, "ab")
    assert re.search(r"aspect-ratio:480/270", html)
    # Noise does not pack: 480 * 270 * 3 bytes, in base64.
    assert len(html) < 480 * 270 * 3 * 4 / 3 * 1.05


def test_many_words_in_any_script_are_drawn_without_a_word(tmp_path, silent, pixels, parse):
    words = ["我们", "नमस्ते", "שלום", "$x$", "🙂", "\n"] * 20
    weights = np.ones((len(words), 2, 2))
    save_regions(tmp_path / "a.png", weights, GREY, words, title="शीर्षक")
    assert max(pixels(tmp_path / "a.png").shape) <= 8000
    parse(regions_html(weights, GREY, words))


def test_no_words_leave_the_image(tmp_path, parse):
    save_regions(tmp_path / "a.png", np.zeros((0, 2, 2)), GREY, [])
    parse(regions_html(np.zeros((0, 2, 2)), GREY, []))


@pytest.mark.parametrize(
    ("weights", "image", "grid", "message"),
    [
        (CORNERS.reshape(2, 12), GREY, None, r"Received: shape \(2, 12\), grid=None"),
        (CORNERS.reshape(2, 12), GREY, (3, 3), r"of a word, 12. Received: grid=\(3, 3\)"),
        (CORNERS, GREY, (4, 3), r"of the weights, \(3, 4\). Received: grid=\(4, 3\)"),
        (CORNERS[:1], GREY, None, r"each of the 2 words. Received: shape \(1, 3, 4\)"),
        (-CORNERS, GREY, None, "must not be negative. Received: -0.7"),
        (CORNERS * np.nan, GREY, None, "must be finite. Received: nan"),
        (CORNERS, GREY[..., 0], None, r"\(height, width, 3\). Received: shape \(60, 80\)"),
        (CORNERS, GREY.astype(float), None, "Received: floats from 128 to 128"),
        (CORNERS, GREY / np.nan, None, "Received: floats from nan to nan"),
        (CORNERS, GREY.astype(int), None, "floats from 0 to 1. Received: int64"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, weights, image, grid, message):
    with pytest.raises(ValueError, match=message):
        save_regions(tmp_path / "x.png", weights, image, ["a", "b"], grid=grid)
    with pytest.raises(ValueError, match=message):
        regions_html(weights, image, ["a", "b"], grid=grid)
    assert not (tmp_path / "x.png").exists()
