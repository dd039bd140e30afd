import numpy as np
import pytest

from pairloom.serving.pictures import activation_html, save_activation
from pairloom.serving.pictures.activation import _pieces

CODE = "if x:\n\ty <= '&'\n    z\n"


def spans(elements):
    return [e for e in elements if e[0] == "span" and "title" in e[1]]


def text_of(elements):
    """The text as it can be copied: without the marks of line breaks."""
    return "".join(text for _, a, text in elements if "user-select" not in a.get("style", ""))


def test_each_character_has_its_activation(parse, opacity):
    values = np.linspace(-1, 1, len(CODE))
    painted = spans(parse(activation_html(values, CODE)))
    assert len(painted) == len(CODE)
    told = [float(span[1]["title"]) for span in painted]
    np.testing.assert_allclose(told, values, rtol=1e-6)
    np.testing.assert_allclose([opacity(s) for s in painted], 255 * 0.7 * abs(values), atol=0.51)


def test_blue_is_below_zero_and_red_above(parse):
    low, high = spans(parse(activation_html([-1, 1], "ab")))

    def rgb(span):
        return bytes.fromhex(span[1]["style"].split("#")[1][:6])

    assert rgb(low)[2] > 2 * rgb(low)[0] and rgb(high)[0] > 2 * rgb(high)[2]


def test_the_text_keeps_its_line_breaks_and_indentation(parse):
    assert text_of(parse(activation_html(np.zeros(len(CODE)), CODE))) == CODE
    tokens = ["if", " x", ":\n\t", "y", " <= '&'\n    z", "\n"]
    assert text_of(parse(activation_html(np.zeros(6), tokens))) == CODE


def test_a_line_break_is_seen_with_its_own_colour(parse, opacity):
    painted = spans(parse(activation_html([0, 1, 0], "a\nb")))
    assert [opacity(span) for span in painted] == [0, round(255 * 0.7), 0]
    assert any(text == "↵" for _, _, text in parse(activation_html([0, 1, 0], "a\nb")))


def test_characters_have_their_places_on_the_page():
    placed = {p.text: (p.line, p.column, p.width) for p in _pieces(np.zeros(6), list("a\n\tb犬c"))}
    assert placed["a"] == (0, 0, 1)
    assert placed["↵"] == (0, 1, 1)
    assert placed["\t"] == (1, 0, 4)
    assert placed["b"] == (1, 4, 1)
    assert placed["犬"] == (1, 5, 2)
    assert placed["c"] == (1, 7, 1)


def test_long_lines_go_on_below():
    places = [(piece.line, piece.column) for piece in _pieces(np.zeros(250), ["x"] * 250)]
    assert places == [divmod(index, 100) for index in range(250)]


def test_marks_stay_with_their_letter():
    assert [p.text for p in _pieces(np.zeros(1), ["e\u0301a"])] == ["e\u0301", "a"]


def test_the_picture_is_red_where_the_unit_says_yes_and_blue_where_no(tmp_path, pixels):
    values = [-1.0] * 10 + [0.0] + [1.0] * 10
    save_activation(tmp_path / "a.png", values, "a" * 10 + "\n" + "b" * 10)
    picture = pixels(tmp_path / "a.png")
    difference = picture[..., 0] - picture[..., 2]
    above, below = np.nonzero(difference < -0.3)[0], np.nonzero(difference > 0.3)[0]
    assert above.max() < below.min()
    # Ten columns of each, so the same area.
    assert len(above) / len(below) == pytest.approx(1, abs=0.15)


def test_a_zero_is_not_painted(tmp_path, pixels):
    save_activation(tmp_path / "a.png", np.zeros(4), "abcd")
    picture = pixels(tmp_path / "a.png")
    assert np.ptp(picture, axis=-1).max() < 0.05


def test_any_script_and_a_long_text_are_drawn_without_a_word(tmp_path, silent, pixels, parse):
    text = "我们 नमस्ते שלום مرحبا $x$ 🙂 \u202e\x00\r\n\ud800\u0301\u200d" + "word " * 3000
    save_activation(tmp_path / "a.png", np.zeros(len(text)), text, title="标题 $")
    assert max(pixels(tmp_path / "a.png").shape) <= 8000
    html = activation_html(np.zeros(len(text)), text, title="标题 $")
    parse(html)
    html.encode("utf-8")
    assert "\u202e" not in html


def test_no_text_has_a_picture(tmp_path, parse):
    save_activation(tmp_path / "a.png", [], "")
    parse(activation_html([], []))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0], r"shape \(2,\). Received: shape \(1,\)"),
        ([0.0, np.nan], "must be finite. Received: nan"),
        ([-3.0, 0.5], "from -1 to 1. Received: -3 to 0.5"),
        ([0.0, 1.5], "from -1 to 1. Received: 0 to 1.5"),
    ],
)
def test_activations_that_do_not_fit_are_refused(tmp_path, values, message):
    with pytest.raises(ValueError, match=message):
        save_activation(tmp_path / "x.png", values, "ab")
    with pytest.raises(ValueError, match=message):
        activation_html(values, "ab")
    assert not (tmp_path / "x.png").exists()
