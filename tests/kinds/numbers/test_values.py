import math

import numpy as np
import pytest

from pairloom.kinds import FieldError, find_kind

NUMBERS = find_kind("numbers")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ([0, 0.5, 1], (0.0, 0.5, 1.0)),
        (b"0 0.5 1e-3", (0.0, 0.5, 0.001)),
        (" 1, 2,3 ", (1.0, 2.0, 3.0)),
        ("-4", (-4.0,)),
        (["1", "2"], (1.0, 2.0)),
    ],
)
def test_lists_and_numbers_between_spaces_or_commas_are_read(raw, value):
    assert NUMBERS.read(raw, {}, 100) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ([], "is empty"),
        (b"  ", "is empty"),
        (",", "is empty"),
        ("1 two", "must hold numbers alone"),
        ([1, None], "must hold numbers alone"),
        ([1, True], "must hold numbers alone"),
        ([[1]], "must hold numbers alone"),
        ([10**400], "must hold numbers alone"),
        ("1 nan", "holds a number that is not finite"),
        ([1.0, math.inf], "holds a number that is not finite"),
        ("1e999", "holds a number that is not finite"),
        # Stored in 32 bits it would be infinite.
        ("1e39", "holds a number that is not finite"),
        ({"a": 1}, "must be a string, received dict"),
        ("1 " * 60, "is longer than 100 characters"),
    ],
)
def test_what_are_no_numbers_says_why(raw, reason):
    with pytest.raises(FieldError) as error:
        NUMBERS.read(raw, {}, 100)
    assert str(error.value) == reason


def test_a_stated_width_is_held_to():
    assert NUMBERS.read([1, 2], {"width": 2}, 9) == (1.0, 2.0)
    assert NUMBERS.read([1, 2], {"width": 0}, 9) == (1.0, 2.0)
    with pytest.raises(FieldError, match="must hold 3 numbers, received 2"):
        NUMBERS.read([1, 2], {"width": 3}, 9)


def test_equal_vectors_have_equal_keys_and_others_others():
    assert NUMBERS.key((1.0, 2.0)) == NUMBERS.key(NUMBERS.read("1 2", {}, 9))
    assert NUMBERS.key((1.0, 2.0)) != NUMBERS.key((2.0, 1.0))
    assert NUMBERS.key((0.0,)) != NUMBERS.key((0.0, 0.0))


def test_long_vectors_are_shown_by_their_first_numbers():
    assert NUMBERS.show((1.0, 0.25)) == "1 0.25"
    assert NUMBERS.show(tuple(map(float, range(8)))) == "0 1 2 3 4 5 6 7"
    assert NUMBERS.show(tuple(map(float, range(9)))) == "0 1 2 3 4 5 6 7 … (9 numbers)"


@pytest.mark.parametrize("value", [[1, 2.5], (1, 2.5), np.array([1, 2.5]), "1 2.5", b"1, 2.5"])
def test_one_vector_is_one_and_is_served_as_a_list(value):
    assert NUMBERS.is_one(value)
    assert NUMBERS.serve(value) == [1.0, 2.5]


@pytest.mark.parametrize("value", [[[1, 2]], np.ones((2, 3)), ["1 2", "3 4"], [], iter([[1]])])
def test_several_vectors_are_not_one(value):
    assert not NUMBERS.is_one(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "must hold lists of numbers. Received: 7"),
        (["x"], "must hold lists of numbers"),
        ([True], "must hold lists of numbers"),
        ([math.nan], "not finite"),
        ([-1e39], "not finite"),
    ],
)
def test_what_are_no_numbers_is_not_served(value, reason):
    with pytest.raises(FieldError, match=reason):
        NUMBERS.serve(value)


def test_an_answer_is_a_list_of_python_s_numbers():
    answer = NUMBERS.answer(np.array([1, 0.5], np.float32))
    assert answer == [1.0, 0.5] and all(type(one) is float for one in answer)


def test_numbers_are_stored_and_parsed_again():
    import tensorflow as tf

    example = tf.train.Example()
    NUMBERS.store((1.0, 0.5), example.features.feature["x"])
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    parsed = tf.io.parse_single_example(example.SerializeToString(), spec)
    assert parsed["x"].numpy().tolist() == [1.0, 0.5]
