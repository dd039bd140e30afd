"""The searches over a decoder whose state grows with every step."""

import numpy as np
import pytest
from keras import ops

from pairloom.models import EncoderDecoder, beam_search, greedy_search

END = 3
SOURCE = np.array([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0], [5, 5, 5, 0, 0], [8, 0, 0, 0, 0]])
LENGTHS = [5, 2, 3, 1]
SIZES = {"vocabulary_size": 10, "units": 8}
TRANSFORMER = {"type": "transformer", **SIZES, "layers": 2, "heads": 2, "feed_forward": 16}
TOKENS = {"type": "tokens", **SIZES, "embedding_units": 8}


def make_model(seed=1, encoder=TRANSFORMER):
    """A model sharp enough that rounding decides nothing."""
    model = EncoderDecoder({"source": encoder}, TRANSFORMER)
    model.build({"source": (None, None)}, (None, None))
    random = np.random.default_rng(seed)
    model.set_weights([random.normal(0, 0.8, np.shape(w)) for w in model.get_weights()])
    return model


def beam(model, source=SOURCE, **settings):
    settings = {"beams": 4, "nbest": 3, "max_length": 8, "with_weights": True, **settings}
    return beam_search(model.decoder, model.encoder(source), **settings)


@pytest.mark.parametrize("encoder", [TRANSFORMER, TOKENS], ids=["transformer", "tokens"])
@pytest.mark.parametrize("seed", range(2))
def test_greedy_takes_the_likeliest_id_of_teacher_forcing(seed, encoder):
    model = make_model(seed, encoder)
    found = greedy_search(model.decoder, model.encoder(SOURCE), max_length=8, with_weights=True)
    for row in range(4):
        length = int(found.lengths[row, 0])
        ids = np.array(found.ids[row, 0, :length])
        logits, weights = model({"source": SOURCE[row : row + 1]}, np.array([[2, *ids[:-1]]]))
        allowed = np.array(logits[0])
        allowed[:, [0, 2]] = -np.inf  # Padding and begin are never written.
        np.testing.assert_array_equal(ids, np.argmax(allowed, -1))
        np.testing.assert_allclose(found.weights[row, 0, :length], weights[0], atol=1e-4)
    one = beam(model, beams=1, nbest=1)
    np.testing.assert_array_equal(one.ids, found.ids)


@pytest.mark.parametrize("seed", range(2))
def test_a_beam_s_scores_and_weights_are_those_of_teacher_forcing(seed):
    model = make_model(seed)
    found = beam(model)
    for row in range(4):
        for rank in range(3):
            length = int(found.lengths[row, rank])
            ids = np.array(found.ids[row, rank, :length])
            logits, weights = model({"source": SOURCE[row : row + 1]}, np.array([[2, *ids[:-1]]]))
            logs = np.array(ops.log_softmax(logits, axis=-1)[0])
            expected = sum(logs[t, i] for t, i in enumerate(ids))
            np.testing.assert_allclose(found.scores[row, rank], expected, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(found.weights[row, rank, :length], weights[0], atol=1e-4)


def test_the_batch_a_sentence_is_in_never_changes_its_output():
    model = make_model()
    together = beam(model)
    greedy = greedy_search(model.decoder, model.encoder(SOURCE), max_length=8)
    for row, length in enumerate(LENGTHS):
        source = SOURCE[row : row + 1, :length]
        alone = beam(model, source)
        time = alone.ids.shape[-1]
        np.testing.assert_array_equal(alone.ids[0], together.ids[row, :, :time])
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-4)
        alone = greedy_search(model.decoder, model.encoder(source), max_length=8)
        time = alone.ids.shape[-1]
        np.testing.assert_array_equal(alone.ids[0], greedy.ids[row, :, :time])


@pytest.mark.needs_tensorflow
@pytest.mark.parametrize("shape", [[None, None], [4, None], [4, 5]])
@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_searches_run_in_a_graph_of_known_and_unknown_shapes(shape, search):
    import tensorflow as tf

    model = make_model()

    def run(source):
        memory = model.encoder(source)
        if search == "greedy":
            return greedy_search(model.decoder, memory, max_length=8).ids
        return beam_search(model.decoder, memory, beams=3, max_length=8).ids

    traced = tf.function(run, input_signature=[tf.TensorSpec(shape, tf.int32)], autograph=False)
    np.testing.assert_array_equal(traced(SOURCE), run(SOURCE))


@pytest.mark.needs_tensorflow
def test_a_search_over_constants_runs_in_a_graph():
    import tensorflow as tf

    model = make_model()
    run = tf.function(lambda: beam(model).ids, autograph=False)
    np.testing.assert_array_equal(run(), beam(model).ids)


def test_an_empty_batch_gives_an_empty_answer():
    model = make_model()
    assert beam(model, SOURCE[:0]).ids.shape[:2] == (0, 3)
    assert greedy_search(model.decoder, model.encoder(SOURCE[:0])).ids.shape[:2] == (0, 1)
