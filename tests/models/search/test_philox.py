import numpy as np
import pytest

from pairloom.models.search.philox import uniform


@pytest.mark.needs_tensorflow
@pytest.mark.parametrize("length", [1, 4, 11])
def test_the_numbers_are_tensorflow_s(length):
    import tensorflow as tf

    first = np.array([0, 1, -3, 2**40, 7])
    second = np.array([0, 2**32 + 5, 3, -1, 2**62])
    wanted = [tf.random.stateless_uniform([length], seed) for seed in zip(first, second)]
    np.testing.assert_array_equal(uniform(first, second, length), wanted)


def test_a_longer_stream_begins_with_the_shorter_one():
    seeds = np.arange(6).reshape(2, 3)
    long = uniform(seeds, seeds + 1, 9)
    assert long.shape == (2, 3, 9) and long.dtype == "float32"
    np.testing.assert_array_equal(uniform(seeds, seeds + 1, 5), long[..., :5])
    assert (long >= 0).all() and (long < 1).all() and len(np.unique(long)) > 50
