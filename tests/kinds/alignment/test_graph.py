import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.alignment.graph import Graph

VALUES = ["0-0 1-2 2?1", "", "3-0"]
EXPECTED = np.zeros((3, 4, 3), "float32")
EXPECTED[0, 0, 0] = EXPECTED[0, 1, 2] = EXPECTED[2, 3, 0] = 1.0
EXPECTED[0, 2, 1] = 0.5


@pytest.fixture(scope="module")
def graph():
    return Graph("links", {"kind": "alignment"}, b"")


def test_a_batch_is_a_matrix_of_words(graph, stored_column):
    column = stored_column(graph, tf.constant(VALUES))
    assert len(column) == 3 and column.extents().tolist() == [[9 // 3], [0], [1]]
    np.testing.assert_array_equal(column.batch(np.arange(3)), EXPECTED)
    np.testing.assert_array_equal(column.batch(np.array([2, 0])), EXPECTED[[2, 0]])


def test_a_batch_reaches_to_its_last_links_or_as_far_as_it_is_told(graph, stored_column):
    column = stored_column(graph, tf.constant(VALUES))
    assert column.batch(np.array([1])).shape == (1, 1, 1)
    assert column.batch(np.array([0])).shape == (1, 3, 3)
    wider = column.batch(np.arange(3), least=6)
    assert wider.shape == (3, 6, 6) and wider.sum() == EXPECTED.sum()


def test_served_values_give_the_batch_that_stored_ones_do(graph):
    np.testing.assert_array_equal(graph.tensor(tf.constant(VALUES)), EXPECTED)
    np.testing.assert_array_equal(graph.tensor(tf.constant([""])), np.zeros((1, 1, 1)))


def test_the_way_back_gives_the_links(graph):
    back = graph.values(EXPECTED).numpy().tolist()
    assert back == [b"0-0 1-2 2?1", b"", b"3-0"]


def test_the_spec_is_that_of_the_batch(graph):
    assert graph.tensor_spec().is_compatible_with(tf.constant(EXPECTED))
