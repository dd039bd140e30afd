from pairloom.kinds.looking import Size
from pairloom.kinds.text import looking as text
from pairloom.kinds.texts.looking import fits, suggest

DOCUMENT = " ".join(["This is a sentence of some nine words or so."] * 8)


def test_lists_of_strings_are_texts_whatever_is_written():
    for written in ("class", "ids"):
        score, why = fits([["a", "b"], ["c"]] * 9, written)
        assert score > text.fits(["a"])[0]
        assert "lists of texts" in why


def test_a_long_string_is_a_document_where_a_class_is_written():
    assert fits([DOCUMENT] * 9, "class")[0] > text.fits([DOCUMENT])[0]
    assert fits([DOCUMENT] * 9, "ids")[0] < text.fits([DOCUMENT])[0]


def test_short_strings_lists_of_numbers_and_numbers_are_none():
    for values in (["A short one. Or two."], [[1, 2]], [1.5], [[]]):
        assert fits(values * 9, "class")[0] == 0


def test_most_texts_and_words_are_read_and_never_too_many():
    lists = [[f"Sentence {i} of words."] * (i % 30 + 1) for i in range(300)]
    advice = suggest(lists, Size(300, 128, 0.3))
    assert 25 <= advice.options["at_most"] <= 30
    assert advice.options["length"] >= 4
    longest = suggest([["word " * 500] * 500], Size(1, 128, 0.3))
    assert longest.options == {"at_most": 60, "length": 60}


def test_strings_and_lists_of_their_sentences_give_the_same_advice():
    sentences = ["This is a sentence of some nine words or so."] * 8
    assert suggest([DOCUMENT] * 9, Size(9, 8, 0)) == suggest([sentences] * 9, Size(9, 8, 0))
