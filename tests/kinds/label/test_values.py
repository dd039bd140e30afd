import pytest

from pairloom.kinds import FieldError, find_kind
from pairloom.kinds.label import LONGEST

LABEL = find_kind("label")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b" good ", "good"),
        ("very  good\t", "very good"),
        (4, "4"),
        (0.5, "0.5"),
        (True, "true"),
        (False, "false"),
        ("東京".encode(), "東京"),
        ("x" * LONGEST, "x" * LONGEST),
    ],
)
def test_names_numbers_and_truth_values_are_labels(raw, value):
    assert LABEL.read(raw, {}, 1000) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b" ", "is empty"),
        (b"\xff", "is not valid UTF-8"),
        ("x" * (LONGEST + 1), "is longer than a label may be, 200 characters"),
        ("x" * 1001, "is longer than 1,000 characters"),
        (["good"], "must be a string, received list"),
        (None, "must be a string, received NoneType"),
    ],
)
def test_what_is_no_label_says_why(raw, reason):
    with pytest.raises(FieldError) as error:
        LABEL.read(raw, {}, 1000)
    assert str(error.value) == reason


def test_labels_are_shown_keyed_and_answered_as_they_are():
    assert LABEL.show("good") == "good"
    assert LABEL.key("good") == b"good" != LABEL.key("bad")
    assert LABEL.answer("gür".encode()) == "gür"


@pytest.mark.parametrize(("value", "served"), [("good", b"good"), (b"good", b"good"), (4, b"4")])
def test_labels_are_served_as_bytes(value, served):
    assert LABEL.serve(value) == served
    assert LABEL.is_one(value)
    assert not LABEL.is_one([value])


def test_a_name_of_any_type_is_served_as_it_is_read():
    for value in (True, False, 3, 0.5, "good"):
        assert LABEL.serve(value).decode() == LABEL.read(value, {}, 9)


def test_what_is_no_label_is_not_served():
    with pytest.raises(FieldError, match=r"must hold texts. Received: \['good'\]"):
        LABEL.serve(["good"])


def test_labels_are_stored_and_parsed_again():
    import tensorflow as tf

    example = tf.train.Example()
    LABEL.store("gür", example.features.feature["mood"])
    spec = {"mood": tf.io.FixedLenFeature([], tf.string)}
    parsed = tf.io.parse_single_example(example.SerializeToString(), spec)
    assert parsed["mood"].numpy().decode() == "gür"


def test_a_label_is_learned_under_its_field_s_name():
    assert LABEL.learned_as("mood", {"vocabulary": "joint"}) == "mood"
