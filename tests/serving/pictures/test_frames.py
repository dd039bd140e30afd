import re

import numpy as np
import pytest

from pairloom.serving.pictures import frames_html, save_frames

WEIGHTS = np.array([[0.1, 0.2, 0.0], [0.3, 0.0, 0.4]])
CLIP = np.zeros((3, 20, 30, 3), np.uint8)


def titled(elements, tag="i"):
    return [e for e in elements if e[0] == tag and "title" in e[1]]


def test_each_word_s_strip_is_shaded_by_its_weights(parse, opacity):
    cells = titled(parse(frames_html(WEIGHTS, words=["<a>", "b"])))
    assert [opacity(cell) for cell in cells] == [64, 128, 0, 191, 0, 255]
    assert cells[1][1]["title"] == "<a>, frame 1: 0.2"
    assert cells[5][1]["title"] == "b, frame 2: 0.4"


def test_a_single_row_of_weights_becomes_bars_of_their_heights(parse):
    elements = parse(frames_html(WEIGHTS[1]))
    assert [bar[1]["title"] for bar in titled(elements)] == [
        "frame 0: 0.3",
        "frame 1: 0",
        "frame 2: 0.4",
    ]
    bars = [attributes["style"] for tag, attributes, _ in elements if tag == "b"]
    assert [float(re.search(r"height:([\d.]+)%", bar)[1]) for bar in bars] == [75, 0, 100]


def test_strips_without_words_are_numbered(parse):
    texts = [text for _, _, text in parse(frames_html(WEIGHTS))]
    assert texts.count("1") == 2 and texts.count("2") == 2  # a strip and a frame each


def test_every_frame_of_a_short_clip_is_shown_and_of_a_long_one_some(parse):
    images = titled(parse(frames_html(WEIGHTS, CLIP)), "img")
    assert [image[1]["alt"] for image in images] == ["frame 0", "frame 1", "frame 2"]
    long = np.zeros((240, 4, 4, 3))
    images = titled(parse(frames_html(np.ones(240), long)), "img")
    assert [image[1]["alt"] for image in images] == [f"frame {5 + 10 * i}" for i in range(24)]


def test_a_screen_reader_is_told_the_strongest_frame_of_each_word(parse):
    elements = parse(frames_html(WEIGHTS, words=["a", "b"]))
    [told] = [a["aria-label"] for _, a, _ in elements if a.get("role") == "img"]
    assert told == "The strongest of each: a: frame 1, b: frame 2"


def test_the_picture_is_darkest_at_the_strongest_frame(tmp_path, pixels):
    weights = np.zeros((1, 9))
    weights[0, 6] = 0.5
    save_frames(tmp_path / "a.png", weights, words=["w"])
    picture = pixels(tmp_path / "a.png")
    blue = picture[..., 2] - picture[..., 0]
    columns = np.nonzero(blue > 0.2)[1]
    # The axis spans the page but for the label left of it.
    assert columns.mean() / picture.shape[1] == pytest.approx(6.5 / 9, abs=0.06)
    assert np.ptp(columns) < picture.shape[1] / 8


def test_the_highest_bar_is_the_strongest_frame(tmp_path, pixels):
    save_frames(tmp_path / "a.png", [0.1, 0.4, 0.2])
    picture = pixels(tmp_path / "a.png")
    blue = picture[..., 2] - picture[..., 0] > 0.3
    columns = np.nonzero(blue.any(0))[0]
    heights = blue[:, columns].sum(0)
    thirds = [part.max() for part in np.array_split(heights, 3)]
    np.testing.assert_allclose(np.array(thirds) / max(thirds), [0.25, 1, 0.5], atol=0.03)


def test_thumbnails_stand_above_in_their_order_and_shape(tmp_path, pixels):
    clip = np.zeros((3, 40, 80, 3))
    for frame in range(3):
        clip[frame, ..., frame] = 1.0
    save_frames(tmp_path / "a.png", np.zeros(3), clip)
    picture = pixels(tmp_path / "a.png")
    centres = []
    for channel in range(3):
        pure = (picture[..., channel] > 0.9) & (picture.sum(-1) < 1.1)
        rows, columns = np.nonzero(pure)
        assert np.ptp(columns) / np.ptp(rows) == pytest.approx(2, rel=0.1)
        centres.append(columns.mean())
    assert centres == sorted(centres)


def test_many_frames_and_words_in_any_script_are_drawn_without_a_word(tmp_path, silent, pixels):
    words = ["我们", "नमस्ते", "שלום", "$x$", "\n"] * 8
    save_frames(tmp_path / "a.png", np.ones((40, 500)), np.zeros((500, 4, 4, 3)), words, "标题")
    assert max(pixels(tmp_path / "a.png").shape) <= 8000
    frames_html(np.ones((40, 500)), np.zeros((500, 4, 4, 3)), words, "标题")


@pytest.mark.parametrize("weights", [np.zeros(3), np.zeros((2, 3)), np.zeros(0), np.zeros((2, 0))])
def test_no_weight_at_all_has_a_picture(tmp_path, weights, parse, silent):
    save_frames(tmp_path / "a.png", weights)
    parse(frames_html(weights))


@pytest.mark.parametrize(
    ("weights", "thumbnails", "words", "message"),
    [
        (WEIGHTS, None, ["a"], r"each of the 1 words. Received: shape \(2, 3\)"),
        (WEIGHTS[0], None, ["a"], r"\(words, frames\) with words. Received: shape \(3,\)"),
        (WEIGHTS, CLIP[:2], None, "each of the 3 frames. Received: 2"),
        (WEIGHTS, CLIP[0], None, r"\(frames, height, width, 3\). Received: shape \(20, 30, 3\)"),
        (WEIGHTS[None], None, None, r"Received: shape \(1, 2, 3\)"),
        (-WEIGHTS, None, None, "must not be negative. Received: -0.4"),
        (WEIGHTS * np.nan, None, None, "must be finite. Received: nan"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, weights, thumbnails, words, message):
    with pytest.raises(ValueError, match=message):
        save_frames(tmp_path / "x.png", weights, thumbnails, words)
    with pytest.raises(ValueError, match=message):
        frames_html(weights, thumbnails, words)
    assert not (tmp_path / "x.png").exists()
