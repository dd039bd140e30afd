import pytest

from pairloom.kinds import FieldError, find_kind

TEXT = find_kind("text")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"a dog", "a dog"),
        (b"  a dog \r", "a dog"),
        ("Grüße".encode(), "Grüße"),
        ("\u3000東京\u00a0".encode(), "東京"),
        (b"12345", "12345"),
        (" a dog ", "a dog"),
    ],
)
def test_text_is_read_without_the_space_around_it(raw, value):
    assert TEXT.read(raw, {}, max_length=5) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "is empty"),
        (b" \t ", "is empty"),
        ("\u3000".encode(), "is empty"),
        (b"\xff", "is not valid UTF-8"),
        ("é".encode("latin-1"), "is not valid UTF-8"),
        (b"\xed\xa0\x80", "is not valid UTF-8"),
        (b"abcdef", "is longer than 5 characters"),
        ("\ud800", "is not valid UTF-8"),
        (7, "must be a string, received int"),
        (["a"], "must be a string, received list"),
    ],
)
def test_text_that_cannot_be_used_says_why(raw, reason):
    with pytest.raises(FieldError) as error:
        TEXT.read(raw, {}, max_length=5)
    assert str(error.value) == reason


def test_a_list_is_one_text_where_the_recipe_says_so():
    joined = {"lists": "joined"}
    assert TEXT.read([" a b ", "c."], joined, max_length=6) == "a b c."
    for raw, reason in ((["a b", "c d"], "longer than 6"), ([], "is empty"), (["a", 1], "int")):
        with pytest.raises(FieldError, match=reason):
            TEXT.read(raw, joined, max_length=6)


def test_length_counts_characters_not_bytes():
    assert TEXT.read("東京東京東".encode(), {}, max_length=5) == "東京東京東"


def test_text_is_stored_and_parsed_again():
    import tensorflow as tf

    example = tf.train.Example()
    TEXT.store("Grüße", example.features.feature["source"])
    spec = {"source": tf.io.FixedLenFeature([], tf.string)}
    parsed = tf.io.parse_single_example(example.SerializeToString(), spec)
    assert parsed["source"].numpy().decode() == "Grüße"
    assert parsed["source"].shape == ()


def test_text_is_shown_in_one_line():
    assert TEXT.show("a\n b\tc") == "a b c"


def test_equal_texts_have_equal_keys_and_others_others():
    assert TEXT.key("Grüße") == "Grüße".encode()
    assert TEXT.key("a") != TEXT.key("b")


@pytest.mark.parametrize("value", ["a dog", b"a dog", 7])
def test_one_text_is_one(value):
    assert TEXT.is_one(value)


@pytest.mark.parametrize("value", [["a dog"], ("a", "b"), []])
def test_several_texts_are_not_one(value):
    assert not TEXT.is_one(value)


def test_texts_are_served_as_utf8_and_answered_as_text():
    assert TEXT.serve("Grüße") == TEXT.serve("Grüße".encode()) == "Grüße".encode()
    assert TEXT.answer("Grüße".encode()) == "Grüße"
    assert TEXT.answer(b"\xff") == "\ufffd"


@pytest.mark.parametrize(
    ("value", "reason"),
    [(7, "must hold texts. Received: 7"), ("\ud800", "holds a text that is not Unicode")],
)
def test_what_is_no_text_is_not_served(value, reason):
    with pytest.raises(FieldError, match=reason):
        TEXT.serve(value)


def test_a_vocabulary_may_be_shared_by_its_name():
    for options in ({}, {"vocabulary": ""}):
        assert TEXT.learned_as("source", options) == "source"
    assert TEXT.learned_as("source", {"vocabulary": "joint"}) == "joint"
