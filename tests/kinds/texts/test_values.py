import pytest

from pairloom.kinds import FieldError, find_kind
from pairloom.kinds.texts import split_texts

TEXTS = find_kind("texts")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (["Hi.", " Hello  there! "], ["Hi.", "Hello there!"]),
        (["one\nline\teach"], ["one line each"]),
        (b"Hi.\nHello!\n", ["Hi.", "Hello!"]),
        ("a\n\n \nb", ["a", "b"]),
        ("It rains. Take a coat!", ["It rains.", "Take a coat!"]),
        ("It rains. Take\na coat!", ["It rains. Take", "a coat!"]),
        ("one", ["one"]),
    ],
)
def test_lists_lines_and_sentences_are_read(raw, value):
    assert TEXTS.read(raw, {}, 100) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ([], "is empty"),
        (b" \n ", "is empty"),
        (["a", " "], "has a text, number 2, that is empty"),
        ([b"\xff"], "has a text, number 1, that is not valid UTF-8"),
        ([["a"]], "has a text, number 1, that must be a string, received list"),
        (7, "must be a string, received int"),
        (["aaa", "bbb"], "is longer than 5 characters"),
        (["abcdef"], "has a text, number 1, that is longer than 5 characters"),
        ("abcdef", "is longer than 5 characters"),
    ],
)
def test_what_are_no_texts_says_why(raw, reason):
    with pytest.raises(FieldError) as error:
        TEXTS.read(raw, {}, 5)
    assert str(error.value) == reason


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Yes. No.", ["Yes.", "No."]),
        ("Really?! Yes… Well.", ["Really?!", "Yes…", "Well."]),
        ('"Go." "No!" he said.', ['"Go."', '"No!"', "he said."]),
        ("(It rained.) Then not.", ["(It rained.)", "Then not."]),
        ("Pi is 3.14 or so. Yes", ["Pi is 3.14 or so.", "Yes"]),
        ("今日は。 明日は！ はい", ["今日は。", "明日は！", "はい"]),
        ("no end", ["no end"]),
        ("end.", ["end."]),
        (" . ", ["."]),
    ],
)
def test_sentences_end_at_their_marks_and_a_space(text, sentences):
    assert split_texts(text) == sentences


def test_equal_texts_have_equal_keys_and_others_others():
    assert TEXTS.key(["a", "b"]) == b"a\nb\n"
    assert TEXTS.key(["a b"]) != TEXTS.key(["a", "b"])


def test_texts_are_shown_in_one_line():
    assert TEXTS.show(["Hi.", "Hello!"]) == "Hi. / Hello!"


@pytest.mark.parametrize(
    ("value", "served"),
    [
        (["Hi.", "Hello\nthere!"], b"Hi.\nHello there!\n"),
        (("Hi.",), b"Hi.\n"),
        ("Hi. Hello!", b"Hi. Hello!"),
        (b"Hi.\nHello!", b"Hi.\nHello!"),
    ],
)
def test_one_value_is_served_as_one_string(value, served):
    assert TEXTS.is_one(value)
    assert TEXTS.serve(value) == served


@pytest.mark.parametrize("value", [[["Hi."], ["Hello."]], []])
def test_several_values_are_not_one(value):
    assert not TEXTS.is_one(value)


@pytest.mark.parametrize("value", [7, [7], [["a"]]])
def test_what_are_no_texts_is_not_served(value):
    with pytest.raises(FieldError, match="must hold"):
        TEXTS.serve(value)


def test_what_is_served_is_answered_with_as_it_was():
    assert TEXTS.answer(TEXTS.serve(["Hi.", "Grüße!"])) == ["Hi.", "Grüße!"]


def test_texts_are_stored_as_they_are_served():
    import tensorflow as tf

    feature = tf.train.Feature()
    TEXTS.store(["Hi.", "Grüße!"], feature)
    assert list(feature.bytes_list.value) == [TEXTS.serve(["Hi.", "Grüße!"])]


def test_a_vocabulary_may_be_shared_by_its_name():
    assert TEXTS.learned_as("document", {}) == "document"
    assert TEXTS.learned_as("document", {"vocabulary": "joint"}) == "joint"
