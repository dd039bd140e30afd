import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.kinds.label.graph import UNKNOWN, Graph

LABELS = ["good", "bad", "übel"]


@pytest.fixture(scope="module")
def graph():
    return Graph("mood", {"kind": "label"}, '["good", "bad", "übel"]'.encode())


def test_a_label_is_its_number(graph):
    found = graph.tensor(tf.constant(["bad", "good", "übel", " bad ", "Bad", ""]))
    assert found.dtype == tf.int32
    assert found.numpy().tolist() == [1, 0, 2, 1, UNKNOWN, UNKNOWN]
    assert graph.size == 3 and graph.labels == LABELS


@given(values=st.lists(st.sampled_from([*LABELS, "other"]), min_size=1))
@hypothesis_settings(deadline=None, max_examples=30)
def test_served_values_are_the_batch_that_the_column_cuts(graph, stored_column, values):
    values = tf.constant(values)
    column = stored_column(graph, values)
    batch = column.batch(np.arange(len(column)))
    assert batch.dtype == graph.tensor_spec().dtype.as_numpy_dtype
    np.testing.assert_array_equal(batch, graph.tensor(values))


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1)])
def test_values_are_the_way_back_in_any_shape(graph, shape):
    names = graph.values(tf.reshape(graph.tensor(tf.constant(LABELS)), shape))
    assert names.shape == shape
    assert [name.decode() for name in names.numpy().ravel()] == LABELS
    assert graph.values(tf.constant([UNKNOWN])).numpy().tolist() == [b""]


def test_no_rows_are_no_rows(graph):
    assert graph.tensor(tf.constant([], tf.string)).shape == (0,)


def test_what_is_served_is_named_after_the_field(graph):
    spec = graph.served_spec()
    assert (spec.name, spec.dtype, spec.shape.as_list()) == ("mood", tf.string, [None])
    assert not graph.named and graph.present(tf.constant(["good"])) is None


def test_a_saved_model_keeps_the_labels(graph, tmp_path):
    module = tf.Module()
    module.graph = graph
    module.there_and_back = tf.function(
        lambda values: graph.values(graph.tensor(values)),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, tmp_path / "saved")
    loaded = tf.saved_model.load(tmp_path / "saved")
    assert loaded.there_and_back(tf.constant(["bad", "x"])).numpy().tolist() == [b"bad", b""]
