"""Any score with any mode, any cell, any encoder and any decoder style."""

import keras
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pairloom.models import EncoderDecoder
from pairloom.models.attention import MODES
from pairloom.models.cells import CELLS
from pairloom.models.losses import masked_cross_entropy
from pairloom.models.scores import SCORES

SOURCE = np.array([[4, 5, 6, 7, 4], [8, 9, 5, 0, 0], [5, 0, 0, 0, 0]])
INPUTS = {"source": SOURCE}
TARGET = np.array([[2, 4, 6, 8, 3], [2, 5, 7, 3, 0], [2, 9, 3, 0, 0]])

TRANSFORMER = {
    "type": "transformer",
    "vocabulary_size": 10,
    "units": 6,
    "layers": 2,
    "heads": 2,
    "feed_forward": 8,
}
ENCODERS = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("tokens"),
            "vocabulary_size": st.just(10),
            "units": st.just(6),
            "embedding_units": st.just(5),
            "cell": st.sampled_from(sorted(CELLS)),
            "layers": st.sampled_from([1, 2]),
            "bidirectional": st.booleans(),
            "backwards": st.booleans(),
        }
    ),
    st.just(
        {
            "type": "tokens",
            "vocabulary_size": 10,
            "units": 6,
            "embedding_units": 5,
            "cell": "lstmn",
            "bidirectional": False,
        }
    ),
    st.just(TRANSFORMER),
)
RECURRENT = {
    "type": st.just("recurrent"),
    "vocabulary_size": st.just(10),
    "units": st.just(6),
    "embedding_units": st.just(5),
    "cell": st.sampled_from(sorted(CELLS)),
    "layers": st.sampled_from([1, 2]),
}
DECODERS = st.one_of(
    st.fixed_dictionaries(
        {
            **RECURRENT,
            "context": st.just("attention"),
            "score": st.sampled_from(sorted(SCORES)),
            "mode": st.sampled_from(sorted(MODES)),
            "window": st.sampled_from([1, 3]),
            "heads": st.sampled_from([1, 2]),
            "style": st.sampled_from(["luong", "bahdanau"]),
            "input_feeding": st.booleans(),
        }
    ),
    st.fixed_dictionaries({**RECURRENT, "context": st.sampled_from(["every_step", "state"])}),
    st.just(TRANSFORMER),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


# Without shrinking: an example takes a second, and is small as it is.
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(encoder=ENCODERS, decoder=DECODERS, seed=st.integers(0, 99))
def test_every_composition(encoder, decoder, seed, folder, gradients):
    keras.utils.set_random_seed(seed)
    model = EncoderDecoder({"source": encoder}, decoder)
    model.build({"source": SOURCE.shape}, TARGET.shape)
    learns_in_one_step(model, gradients)
    steps_equal_teacher_forcing(model)
    path = folder / "model.keras"
    model.save(path)
    loaded = keras.models.load_model(path)
    expected, _ = model(INPUTS, TARGET[:, :-1])
    np.testing.assert_allclose(loaded(INPUTS, TARGET[:, :-1])[0], expected, atol=1e-6)


def learns_in_one_step(model, gradients):
    def loss():
        logits, _ = model(INPUTS, TARGET[:, :-1])
        return masked_cross_entropy(logits, TARGET[:, 1:])

    before = float(loss())
    for weight, gradient in zip(model.trainable_variables, gradients(loss, layer=model)):
        assert np.isfinite(gradient).all()
        # A longer step overshoots: normalising so few entries bends the loss sharply.
        weight.assign_sub(1e-4 * gradient)
    assert float(loss()) < before


def steps_equal_teacher_forcing(model):
    logits, weights = model(INPUTS, TARGET[:, :-1])
    decoder = model.decoder
    memory = decoder.prepare(model.encoder(SOURCE))
    state = decoder.initial_state(memory, 1)
    for t in range(TARGET.shape[1] - 1):
        step_logits, state, step_weights = decoder.step(TARGET[:, t : t + 1], state, memory)
        np.testing.assert_allclose(step_logits[:, 0], logits[:, t], atol=1e-5)
        np.testing.assert_allclose(step_weights[:, 0], weights[:, t], atol=1e-5)
