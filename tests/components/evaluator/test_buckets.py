import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairloom.components.evaluator import bucket_label, bucket_labels

BOUNDS = st.lists(st.integers(1, 2000), min_size=1, max_size=8, unique=True).map(sorted)


def test_the_labels_of_the_default_buckets():
    assert bucket_labels([5, 10, 15, 20, 30]) == (
        "01-05",
        "06-10",
        "11-15",
        "16-20",
        "21-30",
        ">30",
    )


def test_a_bucket_of_one_length_is_that_length():
    assert bucket_labels([1, 2, 9]) == ("1", "2", "3-9", ">9")


def test_no_bounds_are_no_buckets():
    assert bucket_labels([]) == ()


@given(BOUNDS)
@settings(deadline=None)
def test_labels_sort_as_their_lengths_do(bounds):
    labels = bucket_labels(bounds)
    assert list(labels) == sorted(set(labels))
    assert len(labels) == len(bounds) + 1


@given(BOUNDS, st.integers(1, 3000))
@settings(deadline=None)
def test_a_length_lies_between_the_numbers_of_its_label(bounds, length):
    label = bucket_label(length, bounds)
    if label.startswith(">"):
        assert length > int(label[1:])
    else:
        numbers = [int(part) for part in label.split("-")]
        assert numbers[0] <= length <= numbers[-1]


@given(BOUNDS, st.lists(st.integers(0, 3000), min_size=1))
@settings(deadline=None)
def test_searchsorted_finds_the_same_bucket(bounds, lengths):
    places = np.searchsorted(bounds, lengths)
    expected = [bucket_label(length, bounds) for length in lengths]
    assert list(np.array(bucket_labels(bounds))[places]) == expected


@pytest.mark.parametrize("bounds", [[0, 5], [5, 5], [10, 5], [-1]])
def test_bounds_must_rise_from_one(bounds):
    with pytest.raises(ValueError, match=r"rising whole numbers from 1 up. Received: \["):
        bucket_labels(bounds)
