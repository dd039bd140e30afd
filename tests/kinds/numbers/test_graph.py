import json

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pairloom.kinds.numbers.graph import Graph

MEAN, DEVIATION = [1.0, -2.0, 5.0], [0.5, 4.0, 0.0]
LEARNED = json.dumps({"mean": MEAN, "deviation": DEVIATION}).encode()
VALUES = np.array([[1, -2, 5], [2, 2, 5], [0, 0, 7]], "float32")


def make(**options):
    return Graph("x", {"kind": "numbers", **options}, LEARNED)


def test_numbers_stay_as_they_are_unless_standardized():
    np.testing.assert_array_equal(make().tensor(tf.constant(VALUES)), VALUES)


def test_standardized_numbers_are_deviations_from_the_mean():
    # What never changes is not divided by its deviation, which is nothing.
    expected = (VALUES - MEAN) / [0.5, 4.0, 1.0]
    found = make(standardize=True).tensor(tf.constant(VALUES))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("standardize", [True, False])
@given(values=arrays("float32", (5, 3), elements=st.floats(-100, 100, width=32)))
@hypothesis_settings(deadline=None, max_examples=20)
def test_served_values_are_the_batch_that_the_column_cuts(stored_column, standardize, values):
    graph, values = make(standardize=standardize), tf.constant(values)
    column = stored_column(graph, values)
    batch = column.batch(np.arange(len(column)))
    assert batch.dtype == np.float32
    np.testing.assert_array_equal(batch, graph.tensor(values))
    np.testing.assert_allclose(graph.values(batch), values, rtol=1e-4, atol=1e-4)


def test_stored_numbers_come_in_any_shape_of_the_schema():
    for shape in ([3, 3], [-1]):
        made = make().transform(tf.reshape(VALUES, shape))[""]
        np.testing.assert_array_equal(made, VALUES)


def test_what_is_served_has_the_learned_width_and_the_field_s_name():
    graph = make()
    assert graph.size == 3
    assert graph.served_spec().shape.as_list() == [None, 3] and graph.served_spec().name == "x"
    assert graph.stored_spec().shape == [3]
    assert graph.present(tf.constant(VALUES)) is None


# Of a training; an evaluation has none.
SEED = tf.constant([1, 2])
SEEDS = pytest.mark.parametrize("seed", [SEED, None], ids=["training", "evaluation"])


@SEEDS
def test_nothing_is_spoiled_unless_the_recipe_says_so(seed):
    np.testing.assert_array_equal(make().corrupted(tf.constant(VALUES), seed), VALUES)


def spoiled(seed, **options):
    rows = 400 if seed is None else 4000
    values = np.random.default_rng(0).normal(5, 1, (rows, 3)).astype("float32")
    return values, make(**options).corrupted(tf.constant(values), seed).numpy()


@SEEDS
def test_noise_has_the_deviation_asked_for(seed):
    values, found = spoiled(seed, noise=0.5)
    difference = found - values
    assert abs(difference.std() - 0.5) < 0.05 and abs(difference.mean()) < 0.05


@SEEDS
def test_masking_takes_the_share_asked_for(seed):
    values, found = spoiled(seed, masking=0.3)
    assert abs((found == 0).mean() - 0.3) < 0.05
    np.testing.assert_array_equal(found[found != 0], values[found != 0])


def test_a_seed_decides_all_that_is_drawn():
    graph, values = make(noise=1.0, masking=0.2), tf.constant(VALUES)
    found = graph.corrupted(values, SEED)
    np.testing.assert_array_equal(graph.corrupted(values, SEED), found)
    assert np.abs(graph.corrupted(values, SEED + 1) - found).max() > 0


def test_an_evaluation_spoils_a_row_alike_in_every_batch():
    graph, values = make(noise=1.0, masking=0.2), tf.constant(VALUES)
    together = graph.corrupted(values)
    for row in range(3):
        np.testing.assert_allclose(graph.corrupted(values[row : row + 1])[0], together[row])
