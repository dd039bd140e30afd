"""Several models that answer as one."""

import keras
import numpy as np
import pytest
from keras import ops

pytest.importorskip("tensorflow")

from pairloom.models import EncoderDecoder, beam_search, greedy_search
from pairloom.models.ensemble import Ensemble, log_mean, mean_log_probability

SOURCE = np.array([[4, 5, 6, 7, 4], [8, 9, 5, 0, 0], [5, 0, 0, 0, 0]])
RECURRENT = {"type": "recurrent", "vocabulary_size": 10, "units": 6, "embedding_units": 5}
TRANSFORMER = {
    "type": "transformer",
    "vocabulary_size": 10,
    "units": 6,
    "layers": 1,
    "heads": 2,
    "feed_forward": 8,
}


def made(seed, decoder=RECURRENT):
    keras.utils.set_random_seed(seed)
    encoder = {"type": "tokens", "vocabulary_size": 10, "units": 6, "embedding_units": 5}
    model = EncoderDecoder({"source": encoder}, decoder)
    model.build({"source": (None, None)}, (None, None))
    return model


def searched(model, search=beam_search, **settings):
    memory = model.encode({"source": SOURCE}).memory
    return search(model.decoder, memory, max_length=6, with_weights=True, **settings)


@pytest.mark.parametrize("decoder", [RECURRENT, {**RECURRENT, "context": "state"}, TRANSFORMER])
@pytest.mark.parametrize("search", [beam_search, greedy_search])
def test_a_model_beside_itself_answers_as_it_does_alone(decoder, search):
    alone = made(1, decoder)
    one, two = searched(alone, search), searched(Ensemble([alone, alone]), search)
    np.testing.assert_array_equal(one.ids, two.ids)
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-5)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-6)


def test_a_step_gives_the_mean_of_the_members_probabilities_and_of_their_weights():
    members = [made(seed) for seed in (1, 2, 3)]
    ids = np.array([[4], [5], [6]])

    def stepped(model):
        memory = model.decoder.prepare(model.encode({"source": SOURCE}).memory)
        state = model.decoder.initial_state(memory)
        logits, state, weights = model.decoder.step(ids, state, memory)
        # A second step: every member goes on from its own state.
        again, _, weights = model.decoder.step(ids, state, memory)
        return [ops.convert_to_numpy(x) for x in (ops.softmax(logits), ops.softmax(again), weights)]

    together, apart = stepped(Ensemble(members)), [stepped(member) for member in members]
    for found, *parts in zip(together, *apart):
        np.testing.assert_allclose(found, np.mean(parts, 0), atol=1e-6)


def test_what_is_not_fed_is_averaged_too():
    keras.utils.set_random_seed(1)
    encoder = {"type": "features", "units": 4}
    x = np.random.default_rng(1).normal(size=(3, 5)).astype("float32")
    decoders = {4: {"type": "classes", "classes": 4}, 5: {"type": "vector", "width": 5}}
    for width, decoder in decoders.items():
        members = []
        for _ in range(2):
            model = EncoderDecoder({"pixels": encoder}, decoder)
            model.build({"pixels": (None, 5)})
            members.append(model)

        def asked(model):
            found = model.decoder(model.encode({"pixels": x}).memory)
            logits = found[0] if isinstance(found, tuple) else None
            return ops.convert_to_numpy(found if logits is None else ops.softmax(logits))

        found = asked(Ensemble(members))
        assert found.shape == (3, width)
        np.testing.assert_allclose(found, np.mean([asked(m) for m in members], 0), atol=1e-6)


def test_the_summary_is_the_members_one_behind_the_other():
    members = [made(seed) for seed in (1, 2)]
    encoded = Ensemble(members).encode({"source": SOURCE})
    parts = [member.encode({"source": SOURCE}).memory.summary for member in members]
    np.testing.assert_array_equal(encoded.memory.summary, np.concatenate(parts, -1))


def test_the_mean_is_that_of_probabilities_and_not_of_logarithms():
    logits = [np.log([[0.9, 0.1]]), np.log([[0.1, 0.9]]) + 7.0]
    np.testing.assert_allclose(np.exp(mean_log_probability(logits)), [[0.5, 0.5]], atol=1e-6)
    assert log_mean([3.0]) == 3.0


def test_an_ensemble_of_nobody_is_refused():
    with pytest.raises(ValueError, match="at least one member"):
        Ensemble([])
