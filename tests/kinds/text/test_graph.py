import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.kinds.text.graph import Graph, dense_ids
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import BOS, EOS

TEXT = st.text(st.sampled_from("a dogé\u3000東"), max_size=12)


@pytest.fixture(scope="module")
def graph(subword_model):
    return Graph("source", {"kind": "text"}, subword_model)


@given(values=st.lists(TEXT, min_size=1, max_size=5))
@hypothesis_settings(deadline=None, max_examples=40)
def test_served_values_are_the_batch_that_the_column_cuts(graph, stored_column, values):
    values = tf.constant(values)
    column = stored_column(graph, values)
    batch = column.batch(np.arange(len(column)))
    tensor = graph.tensor(values)
    assert batch.dtype == tensor.dtype.as_numpy_dtype == np.int32
    np.testing.assert_array_equal(batch, tensor)


@given(values=st.lists(TEXT, min_size=1, max_size=5))
@hypothesis_settings(deadline=None, max_examples=20)
def test_a_target_stands_between_begin_and_end(graph, stored_column, values):
    values = tf.constant(values)
    column = stored_column(graph, values, Output(graph, {}).column)
    ids = graph.subwords.ids(values).to_list()
    for row, found in zip(ids, column.batch(np.arange(len(ids)))):
        assert found[: len(row) + 2].tolist() == [BOS, *row, EOS]
        assert not found[len(row) + 2 :].any()


def test_values_are_the_way_back_from_inputs_and_from_targets(graph, stored_column):
    values = tf.constant(["a small dog", "", "it rains"])
    assert graph.values(graph.tensor(values)).numpy().tolist() == values.numpy().tolist()
    column = stored_column(graph, values, Output(graph, {}).column)
    found = graph.values(column.batch(np.arange(3)))
    assert found.numpy().tolist() == values.numpy().tolist()


def test_places_are_the_pieces_and_padding_has_no_name(graph):
    tensor = graph.tensor(tf.constant(["a small dog", "a"]))
    places = graph.places(tensor).numpy()
    np.testing.assert_array_equal(places == b"", tensor.numpy() == 0)
    assert b"".join(places[0]).decode().replace("\u2581", " ").strip() == "a small dog"


def test_what_is_present_has_more_than_spaces(graph, subword_model):
    values = tf.constant(["a", " \n ", "", "\n a"])
    assert graph.present(values).numpy().tolist() == [True, False, False, True]
    assert Graph("source", {"empty": "model"}, subword_model).present(values) is None


def test_lengths_are_the_numbers_of_ids(graph):
    values = tf.constant(["a small dog", "", "é"])
    expected = np.count_nonzero(graph.tensor(values), 1)
    assert graph.lengths(values).numpy().tolist() == expected.tolist()
    made = graph.transform(values)
    assert made["_length"].numpy().tolist() == expected.tolist()
    assert made[""].dtype == made["_length"].dtype == tf.int64


def test_a_batch_is_at_least_a_column_wide():
    assert dense_ids(tf.ragged.constant([[], []], tf.int64)).shape == (2, 1)
    assert dense_ids(tf.ragged.constant([[5], []], tf.int64)).numpy().tolist() == [[5], [0]]
