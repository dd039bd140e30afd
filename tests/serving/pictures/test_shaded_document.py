import numpy as np
import pytest

from pairloom.serving.pictures import save_shaded_document, shaded_document_html

SENTENCES = [["good", "food", "."], ["<b>", "walls"]]
WORDS = [[0.7, 0.2, 0.1], [0.5, 0.5]]
WEIGHTS = [0.81, 0.16]


def shaded(elements):
    words = [e for e in elements if e[0] == "span"]
    sentences = [e for e in elements if e[1].get("title", "").startswith("sentence")]
    return words, sentences


def test_words_are_shaded_by_the_root_of_the_sentence_s_weight_times_their_own(parse, opacity):
    words, _ = shaded(parse(shaded_document_html(WORDS, WEIGHTS, SENTENCES)))
    expected = [0.9 * 0.7, 0.9 * 0.2, 0.9 * 0.1, 0.4 * 0.5, 0.4 * 0.5]
    shades = np.array([opacity(word) for word in words])
    np.testing.assert_allclose(shades / shades.max(), np.array(expected) / 0.63, atol=0.01)


def test_sentences_are_shaded_by_their_weight(parse, opacity):
    _, sentences = shaded(parse(shaded_document_html(WORDS, WEIGHTS, SENTENCES)))
    first, second = map(opacity, sentences)
    assert second / first == pytest.approx(0.16 / 0.81, abs=0.01)
    assert [sentence[2] for sentence in sentences] == ["0.81", "0.16"]


def test_the_weight_of_a_sentence_among_very_many_is_not_shown_as_nothing(parse):
    _, [sentence] = shaded(parse(shaded_document_html([[1.0]], [0.0012], [["a"]])))
    assert sentence[2] == "0.0012"


def test_weights_are_told_and_text_is_escaped(parse):
    elements = parse(shaded_document_html(WORDS, WEIGHTS, SENTENCES, title="<&>"))
    words, sentences = shaded(elements)
    assert [word[2] for word in words] == ["good", "food", ".", "<b>", "walls"]
    assert [float(word[1]["title"]) for word in words] == [0.7, 0.2, 0.1, 0.5, 0.5]
    assert sentences[0][1]["title"] == "sentence: 0.81"
    assert "<&>" in [text for _, _, text in elements]


def test_without_weights_of_sentences_words_alone_are_shaded(parse, opacity):
    html = shaded_document_html(WORDS, None, SENTENCES)
    words, sentences = shaded(parse(html))
    assert sentences == []
    shades = np.array([opacity(word) for word in words])
    expected = np.array([0.7, 0.2, 0.1, 0.5, 0.5])
    np.testing.assert_allclose(shades / shades.max(), expected / 0.7, atol=0.01)
    assert "A document of 2 sentences, its words shaded by attention" in html


def test_without_weights_of_sentences_the_picture_has_no_red_and_begins_at_the_margin(
    tmp_path, pixels
):
    lefts = {}
    for name, weights in [("with", [1.0]), ("without", None)]:
        save_shaded_document(tmp_path / f"{name}.png", [[1.0, 0.5]], weights, [["aa", "bb"]])
        picture = pixels(tmp_path / f"{name}.png")
        lefts[name] = np.nonzero(picture[..., 2] - picture[..., 0] > 0.2)[1].min()
        assert (picture[..., 0] - picture[..., 2] > 0.1).any() == (weights is not None)
    assert lefts["without"] < lefts["with"] - 40


def test_one_sentence_is_not_told_of_as_several():
    assert "A document of 1 sentence, its words and" in shaded_document_html([[1]], [1], [["a"]])


def test_text_stays_readable_on_the_darkest_shade(parse, opacity):
    words, sentences = shaded(parse(shaded_document_html(WORDS, WEIGHTS, SENTENCES)))
    assert max(map(opacity, words + sentences)) == round(255 * 0.7)


def test_the_picture_is_bluest_at_the_strongest_word_and_reddest_at_its_sentence(tmp_path, pixels):
    sentences = [["aa", "bb"], ["cc", "dd"], ["ee", "ff"]]
    words = [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]]
    save_shaded_document(tmp_path / "a.png", words, [0.1, 0.8, 0.1], sentences)
    picture = pixels(tmp_path / "a.png")
    red, blue = picture[..., 0] - picture[..., 2], picture[..., 2] - picture[..., 0]
    reddest, bluest = red > 0.9 * red.max(), blue > 0.9 * blue.max()
    rows = np.nonzero(bluest)[0]
    middle = picture.shape[0] / 2
    assert red.max() > 0.3 and blue.max() > 0.3
    assert abs(rows.mean() - middle) < 12 and abs(np.nonzero(reddest)[0].mean() - middle) < 12
    # The sentence's mark stands left of the words.
    assert np.nonzero(reddest)[1].max() < np.nonzero(bluest)[1].min()


def test_a_long_sentence_goes_on_below(tmp_path, pixels):
    for count, name in [(5, "short"), (200, "long")]:
        words = ["word"] * count
        save_shaded_document(tmp_path / f"{name}.png", [[0.1] * count], [1.0], [words])
    short, long = pixels(tmp_path / "short.png"), pixels(tmp_path / "long.png")
    assert short.shape[1] == long.shape[1] and long.shape[0] > 3 * short.shape[0]
    # Nothing reaches the right margin.
    assert (long[:, -20:] > 0.99).all()


def test_any_script_and_no_weight_at_all_are_drawn_without_a_word(tmp_path, silent, parse):
    sentences = [["我们", "नमस्ते", "שלום"], [], ["$x", "\n", "\u202e", "🙂", "x" * 300]]
    words = [np.zeros(len(sentence)) for sentence in sentences]
    save_shaded_document(tmp_path / "a.png", words, [0, 0, 0], sentences, title="标题")
    parse(shaded_document_html(words, [0, 0, 0], sentences, title="标题"))


def test_an_empty_document_has_a_picture(tmp_path, parse):
    save_shaded_document(tmp_path / "a.png", [], [], [])
    assert "(nothing to show)" in [t for _, _, t in parse(shaded_document_html([], [], []))]


@pytest.mark.parametrize(
    ("words", "weights", "sentences", "message"),
    [
        (WORDS, [0.5], SENTENCES, r"one for each sentence: shape \(2,\). Received: shape \(1,\)"),
        (WORDS[:1], WEIGHTS, SENTENCES, "each of the 2 sentences. Received: 1"),
        ([[1.0], [0.5, 0.5]], WEIGHTS, SENTENCES, r"`word_weights\[0\]` must have one for each"),
        (WORDS, [-1, 0], SENTENCES, "`sentence_weights` must not be negative. Received: -1"),
        ([[np.nan] * 3, [1, 1]], WEIGHTS, SENTENCES, r"`word_weights\[0\]` must be finite"),
        (WORDS, WEIGHTS, ["abc", "de"], "lists of words. Received: 'abc'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, words, weights, sentences, message):
    with pytest.raises(ValueError, match=message):
        save_shaded_document(tmp_path / "x.png", words, weights, sentences)
    with pytest.raises(ValueError, match=message):
        shaded_document_html(words, weights, sentences)
    assert not (tmp_path / "x.png").exists()
