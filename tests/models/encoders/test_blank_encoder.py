import keras
import numpy as np
import pytest

from pairloom.models import EncoderDecoder
from pairloom.models.encoders import BlankEncoder

TARGET = np.array([[2, 4, 6, 8, 3], [2, 5, 7, 3, 0], [2, 9, 3, 0, 0]])
SIZES = {"vocabulary_size": 10, "units": 6}
DECODERS = {
    "state": {"type": "recurrent", "embedding_units": 5, "context": "state", **SIZES},
    "every step": {"type": "recurrent", "embedding_units": 5, "context": "every_step", **SIZES},
    "attention": {"type": "recurrent", "embedding_units": 5, **SIZES},
    "lstm": {"type": "recurrent", "embedding_units": 5, "cell": "lstm", "layers": 2, **SIZES},
    "transformer": {"type": "transformer", "layers": 2, "heads": 2, "feed_forward": 8, **SIZES},
}
every_decoder = pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS.keys())


def array(tensor):
    return np.array(keras.ops.convert_to_numpy(tensor))


def make(decoder):
    keras.utils.set_random_seed(2)
    model = EncoderDecoder({}, decoder)
    model.build({}, (None, None))
    return model


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_memory_without_positions_has_the_same_summary_in_every_row(rows):
    encoder = BlankEncoder(4)
    memory = encoder(np.zeros((rows, 7)))
    [start] = encoder.get_weights()
    assert tuple(memory.states.shape) == (rows, 0, 4) and tuple(memory.mask.shape) == (rows, 0)
    np.testing.assert_allclose(array(memory.summary), np.tile(start, (rows, 1)))
    promised = encoder.compute_output_shape((rows, 7))
    assert [tuple(part.shape) for part in memory[:3]] == [tuple(shape) for shape in promised[:3]]


def test_it_is_made_again_from_its_config():
    assert BlankEncoder.from_config(BlankEncoder(4).get_config()).units == 4


@every_decoder
def test_steps_equal_teacher_forcing_without_a_memory(decoder):
    model = make(decoder)
    logits, weights = (array(x) for x in model({}, TARGET[:, :-1]))
    assert np.isfinite(logits).all() and weights.shape == (3, 4, 0)
    memory = model.decoder.prepare(model.encode({}, TARGET).memory)
    state = model.decoder.initial_state(memory, 1)
    for t in range(TARGET.shape[1] - 1):
        step, state, _ = model.decoder.step(TARGET[:, t : t + 1], state, memory)
        np.testing.assert_allclose(array(step)[:, 0], logits[:, t], atol=1e-5)


@every_decoder
def test_a_model_without_inputs_saves_and_loads(decoder, tmp_path):
    model = make(decoder)
    expected = array(model({}, TARGET)[0])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(array(loaded({}, TARGET)[0]), expected, atol=1e-5)


@every_decoder
def test_gradients_are_finite_without_a_memory(decoder, gradients):
    model = make(decoder)
    found = gradients(lambda: keras.ops.sum(model({}, TARGET)[0] ** 2), layer=model)
    assert all(np.isfinite(gradient).all() for gradient in found)


@every_decoder
def test_the_batch_a_row_is_in_never_changes_it(decoder):
    model = make(decoder)
    together = array(model({}, TARGET)[0])
    for row in range(3):
        alone = array(model({}, TARGET[row : row + 1])[0])
        np.testing.assert_allclose(alone[0], together[row], atol=1e-5)
