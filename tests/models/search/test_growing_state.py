"""A decoder's state may have an axis that grows, as a Transformer's cache does."""

import numpy as np
import pytest

from pairloom.models import Memory

pytestmark = pytest.mark.needs_tensorflow


def in_graph(search, decoder, memory, **settings):
    """As it is served: no shape known but the units."""
    import tensorflow as tf

    specs = Memory(
        tf.TensorSpec([None, None, 2]), tf.TensorSpec([None, None], tf.bool), tf.TensorSpec(None)
    )
    specs = specs._replace(summary=tf.TensorSpec([None, memory.summary.shape[1]]))
    run = tf.function(lambda memory: search(decoder, memory, **settings), input_signature=[specs])
    return run(memory)


@pytest.mark.parametrize("settings", [{}, {"no_repeat_ngrams": 2, "min_length": 4}])
def test_scores_and_weights_are_those_of_the_returned_ids(search, cached, written, settings):
    decoder = cached()
    memory = decoder.memory(batch=5)
    found = in_graph(search, decoder, memory, max_length=7, with_weights=True, **settings)
    for row, hypotheses in enumerate(written(found)):
        for rank, ids in enumerate(hypotheses):
            total, weights = decoder.by_hand(ids, memory, row)
            np.testing.assert_allclose(found.scores[row, rank], total, rtol=1e-4)
            np.testing.assert_allclose(found.weights[row, rank, : len(ids)], weights, atol=1e-5)
            np.testing.assert_array_equal(found.weights[row, rank, len(ids) :], 0)
            np.testing.assert_array_equal(found.ids[row, rank, len(ids) :], 0)


def test_a_graph_of_unknown_shapes_finds_what_eager_finds(search, cached, written):
    decoder = cached(seed=5)
    memory = decoder.memory(batch=3)
    settings = {"max_length": 6, "no_repeat_ngrams": 3}
    found = in_graph(search, decoder, memory, **settings)
    assert written(found) == written(search(decoder, memory, **settings))


def test_only_the_rows_and_what_starts_empty_may_change():
    import tensorflow as tf

    from pairloom.models.search.tensorflow_tensors import shape_invariants

    state = {"cache": tf.zeros([4, 2, 0, 8]), "sum": tf.zeros([4, 2, 8]), "t": tf.constant(0)}
    shapes = shape_invariants(state)
    assert shapes["cache"].as_list() == [None, 2, None, 8]
    assert shapes["sum"].as_list() == [None, 2, 8]
    assert shapes["t"].as_list() == []
