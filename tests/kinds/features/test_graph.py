"""Vectors over time in the graph."""

from collections import Counter

import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.features import KIND, FeaturesOptions
from pairloom.kinds.features.graph import Graph
from pairloom.kinds.features.learning import count, learn
from pairloom.kinds.features.packing import pack, unpack

RANDOM = np.random.default_rng(2)
VALUES = [RANDOM.normal(3, 2, (time, 3)).astype(np.float32) for time in (2, 4, 1)]
SERVED = np.full((3, 4, 3), np.nan, np.float32)
for _row, _value in zip(SERVED, VALUES):
    _row[: len(_value)] = _value
PACKED = [pack(value) for value in VALUES]


def learned() -> bytes:
    table: Counter = Counter()
    for packed in PACKED:
        count([packed], table)
    return learn(table, {})[0]


def graph(**options) -> Graph:
    return Graph("clip", vars(FeaturesOptions(**options)), learned())


def test_packing_loses_nothing():
    for value in VALUES:
        np.testing.assert_array_equal(unpack(pack(value)), value)


@pytest.mark.parametrize("standardize", [False, True])
def test_stored_served_and_cut_are_the_same_batch(standardize, stored_column):
    made = graph(standardize=standardize)
    stored = made.tensor(tf.constant([*PACKED, PACKED[0]])).numpy()
    served = made.tensor(tf.constant(SERVED)).numpy()
    np.testing.assert_allclose(stored[:3], served, atol=1e-6)
    batch = stored_column(made, tf.constant([*PACKED, PACKED[0]])).batch(np.array([0, 1, 2, 3]))
    assert len(batch.values) == 3, "equal values are one"
    np.testing.assert_allclose(batch.values[batch.rows], stored, atol=1e-6)


def test_standardized_numbers_have_mean_0_and_deviation_1():
    made = graph(standardize=True).tensor(tf.constant(SERVED)).numpy()
    numbers = made[~np.isnan(made)]
    assert numbers.mean() == pytest.approx(0, abs=1e-5)
    assert numbers.std() == pytest.approx(1, abs=1e-5)


def test_the_way_back():
    made = graph(standardize=True)
    np.testing.assert_allclose(made.values(made.tensor(tf.constant(SERVED))), SERVED, atol=1e-5)


def test_places_are_told_from_padding():
    made = graph()
    places = made.places(made.tensor(tf.constant(SERVED))).numpy().tolist()
    assert places == [[b"0", b"1", b"", b""], [b"0", b"1", b"2", b"3"], [b"0", b"", b"", b""]]
    nothing = np.full((1, 2, 3), np.nan, np.float32)
    assert made.present(tf.constant(SERVED)).numpy().all()
    assert not made.present(tf.constant(nothing)).numpy().any()


def test_columns_know_how_far_each_value_reaches(stored_column):
    assert stored_column(graph(), tf.constant(PACKED)).extents().ravel().tolist() == [2, 4, 1]


def test_unequal_widths_are_the_users_to_mend():
    table: Counter = Counter()
    count([pack(np.ones((1, 2), np.float32)), pack(np.ones((1, 3), np.float32))], table)
    with pytest.raises(ValueError, match=r"one width. Received: widths \[2, 3\]"):
        learn(table, {})


def test_equal_values_have_equal_keys():
    from pairloom.kinds.features import Vectors

    assert KIND.key(Vectors("a", VALUES[0])) == KIND.key(Vectors("b", VALUES[0].copy()))
    assert KIND.key(Vectors("a", VALUES[0])) != KIND.key(Vectors("a", VALUES[1]))
