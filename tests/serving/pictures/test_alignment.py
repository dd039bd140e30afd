import numpy as np
import pytest

from pairloom.serving.pictures import alignment_html, save_alignment

ANY_SCRIPT = ["我们", "नमस्ते", "שלום", "مرحبا", "🙂", "\u202ea\n", "", "$x$", "\ud800"]


def cells(elements):
    return [element for element in elements if element[0] == "i" and "title" in element[1]]


def test_the_picture_is_dark_where_the_weight_is(tmp_path, pixels):
    path = tmp_path / "alignment.png"
    source = ["▁a", "$b", *"cdefgh"]
    save_alignment(path, np.eye(8), source, list("ABCDEFGH"), title="a $b c")
    picture = pixels(path)
    assert picture.shape[0] > 100 and picture.shape[1] > 100
    # Blue, not the black of letters.
    dark = (picture.sum(-1) < 1.0) & (picture[..., 2] > 2 * picture[..., 0] + 0.1)
    rows = np.nonzero(dark.any(1))[0]
    # The leftmost, as the bar that tells the scale stands at the right.
    columns = dark[rows].argmax(1)
    # The diagonal falls to the right: dark columns move right as rows go down.
    assert np.corrcoef(rows, columns)[0, 1] > 0.9


def test_the_cell_with_the_largest_weight_is_the_strongest(parse, opacity):
    weights = [[0.1, 0.2, 0.0], [0.05, 0.4, 0.1]]
    shown = cells(parse(alignment_html(weights, ["x", "y", "z"], ["A", "B"])))
    assert [cell[1]["title"].split(": ")[1] for cell in shown] == [
        "0.1", "0.2", "0", "0.05", "0.4", "0.1",
    ]  # fmt: skip
    assert shown[4][1]["title"] == "B ← y: 0.4"
    assert [opacity(cell) for cell in shown] == [64, 128, 0, 32, 255, 64]


def test_shades_do_not_depend_on_the_scale_of_the_weights(parse, opacity):
    weights = np.array([[0.1, 0.2], [0.3, 0.4]])
    shades = [
        [opacity(cell) for cell in cells(parse(alignment_html(w, ["x", "y"], ["A", "B"])))]
        for w in (weights, weights / 1000)
    ]
    assert shades[0] == shades[1]


def test_text_is_escaped(parse):
    html = alignment_html([[1.0]], ["<b>&\"'"], ["<script>"], title="<i>t</i>")
    elements = parse(html)
    assert "<script>" in [text for _, _, text in elements]
    assert "<b>&\"'" in [text for _, _, text in elements]
    assert cells(elements)[0][1]["title"] == "<script> ← <b>&\"': 1"
    assert [text for tag, _, text in elements if tag == "figcaption"] == ["<i>t</i>"]


def test_a_screen_reader_is_told_the_strongest_of_each_token(parse):
    elements = parse(alignment_html([[0.1, 0.9], [0.8, 0.2]], ["x", "y"], ["A", "B"]))
    [told] = [a["aria-label"] for _, a, _ in elements if a.get("role") == "img"]
    assert told == "The strongest of each: A ← y, B ← x"
    html = alignment_html([[0, 0], [0.8, 0.2]], ["x", "y"], ["A", "B"])
    assert 'aria-label="The strongest of each: B ← x"' in html


def test_a_large_map_joins_what_cannot_be_seen_and_nothing_else(parse, opacity):
    size = 200
    tokens = [f"t{i}" for i in range(size)]
    weights = np.eye(size) + 1e-6
    shown = cells(parse(alignment_html(weights, tokens, tokens)))
    seen = [cell for cell in shown if "background" in cell[1]["style"]]
    # In row i and in column i, so at most one run on each side of it.
    assert sum(opacity(cell) == 255 for cell in seen) == size
    assert len(shown) <= 3 * size
    assert shown[1][1] == {
        "style": "grid-column:span 199",
        "title": "t0 ← t1 … t199: at most 1e-06",
    }


def test_a_long_text_s_picture_stays_of_a_size_that_can_be_opened(tmp_path, pixels):
    tokens = [f"token{i}" for i in range(350)]
    save_alignment(tmp_path / "a.png", np.eye(350), tokens, tokens, title="long " * 300)
    assert max(pixels(tmp_path / "a.png").shape) <= 8000


def test_any_script_is_drawn_without_a_word(tmp_path, silent, parse):
    weights = np.eye(len(ANY_SCRIPT))
    save_alignment(tmp_path / "a.png", weights, ANY_SCRIPT, ANY_SCRIPT, title=" ".join(ANY_SCRIPT))
    html = alignment_html(weights, ANY_SCRIPT, ANY_SCRIPT, title=" ".join(ANY_SCRIPT))
    parse(html)
    html.encode("utf-8")
    assert "\u202e" not in html


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_an_empty_answer_has_a_picture(tmp_path, parse, shape):
    tokens = ["a"] * shape[1], ["b"] * shape[0]
    save_alignment(tmp_path / "a.png", np.zeros(shape), *tokens)
    assert (tmp_path / "a.png").exists()
    assert "(nothing to show)" in [t for _, _, t in parse(alignment_html(np.zeros(shape), *tokens))]


def test_rows_of_zeros_are_drawn(tmp_path, parse, opacity, silent):
    save_alignment(tmp_path / "a.png", np.zeros((2, 2)), "ab", "cd")
    shown = cells(parse(alignment_html(np.zeros((2, 2)), "ab", "cd")))
    assert [opacity(cell) for cell in shown] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 2)), r"shape \(2, 3\). Received: shape \(3, 2\)"),
        ([[0, 0, np.nan], [0, 0, 0]], "must be finite. Received: nan"),
        ([[0, 0, np.inf], [0, 0, 0]], "must be finite. Received: inf"),
        ([[0, 0, -0.5], [0, 0, 0]], "must not be negative. Received: -0.5"),
        ([[0, 0], [0, 0, 0]], "must be an array of numbers. Received"),
        ("text", "must be an array of numbers. Received: 'text'"),
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path, weights, message):
    with pytest.raises(ValueError, match=message):
        save_alignment(tmp_path / "x.png", weights, ["a", "b", "c"], ["A", "B"])
    with pytest.raises(ValueError, match=message):
        alignment_html(weights, ["a", "b", "c"], ["A", "B"])
    assert not (tmp_path / "x.png").exists()


def test_tokens_that_are_no_texts_are_refused():
    with pytest.raises(ValueError, match="`source_tokens` must be texts. Received: 7"):
        alignment_html([[1.0]], [7], ["a"])
