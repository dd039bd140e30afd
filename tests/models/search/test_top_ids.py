import numpy as np
import pytest
import tensorflow as tf

from pairloom.models.search.top_ids import _block_width, top_ids


@pytest.mark.parametrize("size", [11, 96, 997, 1000, 8000])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_the_largest_are_those_of_top_k(size, count):
    logits = tf.constant(np.random.default_rng(size).normal(size=(3, 2, size)).astype("float32"))
    values, ids = top_ids(logits, count)
    expected = tf.math.top_k(logits, count)
    np.testing.assert_array_equal(values, expected.values)
    np.testing.assert_array_equal(ids, expected.indices)


def test_equal_logits_come_in_the_order_of_their_ids():
    logits = tf.constant(np.random.default_rng(0).integers(0, 3, (5, 1000)).astype("float32"))
    np.testing.assert_array_equal(top_ids(logits, 10)[1], tf.math.top_k(logits, 10).indices)


def test_nothing_in_gives_nothing_out():
    values, ids = top_ids(tf.zeros([0, 5, 1000]), 10)
    assert values.shape == ids.shape == (0, 5, 10)


def test_blocks_serve_common_vocabularies_and_not_primes():
    assert _block_width(8000, 10) and _block_width(6000, 10)
    assert not _block_width(7919, 10)
