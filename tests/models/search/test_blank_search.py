"""The searches over decoders that have nothing to look at."""

import numpy as np
import pytest
from keras import ops

from pairloom.models import EncoderDecoder, beam_search, greedy_search, sample

SIZES = {"vocabulary_size": 10, "units": 8}
DECODERS = {
    "recurrent": {"type": "recurrent", "embedding_units": 8, **SIZES},
    "state": {"type": "recurrent", "embedding_units": 8, "context": "state", **SIZES},
    "transformer": {"type": "transformer", "layers": 2, "heads": 2, "feed_forward": 16, **SIZES},
}
LIKE = np.zeros((3, 1))


@pytest.fixture(params=DECODERS.values(), ids=DECODERS.keys())
def model(request):
    """Sharp enough that rounding decides nothing."""
    made = EncoderDecoder({}, request.param)
    made.build({}, (None, None))
    random = np.random.default_rng(1)
    made.set_weights([random.normal(0, 0.8, np.shape(w)) for w in made.get_weights()])
    return made


def log_probability(model, ids):
    logits, _ = model({}, np.array([[2, *ids[:-1]]]))
    logs = np.array(ops.log_softmax(logits, axis=-1)[0])
    return sum(logs[t, i] for t, i in enumerate(ids))


def test_scores_are_those_of_teacher_forcing(model):
    memory = model.encode({}, LIKE).memory
    for found in (
        greedy_search(model.decoder, memory, max_length=6, with_weights=True),
        beam_search(model.decoder, memory, beams=4, nbest=3, max_length=6, with_weights=True),
    ):
        for row, rank in np.ndindex(*found.lengths.shape):
            ids = found.ids[row, rank, : int(found.lengths[row, rank])].numpy()
            expected = log_probability(model, ids)
            np.testing.assert_allclose(found.scores[row, rank], expected, rtol=1e-3, atol=1e-3)
        # With nothing to tell them apart, all rows are answered alike.
        assert (np.array(found.ids) == np.array(found.ids)[:1]).all()


def test_answers_go_on_from_a_beginning_and_rows_may_have_others(model):
    memory = model.encode({}, LIKE).memory
    prefix = np.array([[4, 5], [6, 0], [0, 0]])
    found = np.array(beam_search(model.decoder, memory, beams=3, max_length=6, prefix=prefix).ids)
    assert found[0, 0, :2].tolist() == [4, 5] and found[1, 0, 0] == 6


def test_samples_differ_by_their_seeds(model):
    memory = model.encode({}, LIKE).memory
    seeds, how = np.array([1, 2, 1]), {"temperature": 9.0, "max_length": 6}
    ids = np.array(sample(model.decoder, memory, seed=seeds, count=4, **how).ids)
    assert (ids[0] == ids[2]).all() and (ids[0] != ids[1]).any()


@pytest.mark.needs_tensorflow
def test_a_search_runs_in_a_graph_of_an_unknown_batch(model):
    import tensorflow as tf

    def run(like):
        memory = model.encode({}, like).memory
        return beam_search(model.decoder, memory, beams=3, max_length=6, with_weights=True).ids

    traced = tf.function(run, input_signature=[tf.TensorSpec([None, 1])], autograph=False)
    np.testing.assert_array_equal(traced(LIKE), run(LIKE))
