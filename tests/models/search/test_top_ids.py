import numpy as np
import pytest
from keras import ops

from pairloom.models.search.top_ids import top_ids

# Below the number from which blocks are used, above it, and with no divisor to make them of.
SIZES = [11, 997, 2000, 7919, 8000]


def assert_top(logits, count):
    logits = logits.astype("float32")
    values, ids = top_ids(ops.convert_to_tensor(logits), count)
    expected = np.argsort(-logits, axis=-1, kind="stable")[..., :count]
    np.testing.assert_array_equal(ids, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(logits, expected, -1))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 4, 10])
def test_the_largest_are_those_of_top_k(size, count):
    assert_top(np.random.default_rng(size).normal(size=(3, 2, size)), count)


@pytest.mark.parametrize("size", SIZES)
def test_equal_logits_come_in_the_order_of_their_ids(size):
    assert_top(np.random.default_rng(0).integers(0, 3, (5, size)), 10)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("possible", [0, 1])
def test_where_little_is_possible_ids_are_still_the_vocabulary_s(size, possible):
    logits = np.full((2, size), -np.inf)
    logits[:, size - possible :] = 1.0
    assert_top(logits, 10)


@pytest.mark.parametrize("size", SIZES)
def test_nothing_in_gives_nothing_out(size):
    values, ids = top_ids(ops.zeros((0, 5, size)), 10)
    assert values.shape == ids.shape == (0, 5, 10)
