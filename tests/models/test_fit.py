"""`EncoderDecoder` as the Keras model that it is: compile, fit, evaluate, predict, generate."""

import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import EncoderDecoder

SIDES = {"vocabulary_size": 12, "units": 16, "embedding_units": 8}
RANDOM = np.random.default_rng(0)
SOURCE = RANDOM.integers(4, 12, (64, 4))
TARGET = np.pad(SOURCE[:, ::-1], [(0, 0), (1, 1)], constant_values=((0, 0), (2, 3)))
FED, LABELS = TARGET[:, :-1], TARGET[:, 1:]


@pytest.fixture(autouse=True)
def gradients_are_recorded():
    """PyTorch's are off in the other tests."""
    if keras.backend.backend() != "torch":
        yield
        return
    import torch

    with torch.enable_grad():
        yield


def make(decoder=(), **settings):
    keras.utils.set_random_seed(1)
    return EncoderDecoder(
        {"source": {"type": "tokens", **SIDES}},
        {"type": "recurrent", **SIDES, **dict(decoder)},
        **settings,
    )


def to_numpy(tensor):
    return np.array(ops.convert_to_numpy(tensor))


def test_it_learns():
    model = make()
    model.compile(keras.optimizers.Adam(0.02))
    history = model.fit({"source": SOURCE, "fed": FED}, LABELS, epochs=3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert history["accuracy"][-1] > history["accuracy"][0]


@pytest.mark.needs_tensorflow  # For the time that it takes; the others learn above.
def test_it_learns_to_write_backwards_and_to_end():
    model = make()
    model.compile(keras.optimizers.Adam(0.02))
    history = model.fit({"source": SOURCE, "fed": FED}, LABELS, epochs=25, verbose=0).history
    assert history["accuracy"][-1] > 0.7
    found = model.generate({"source": SOURCE}, "greedy", max_length=5)
    assert np.mean(to_numpy(found.ids)[:, 0, :5] == LABELS[:, : found.ids.shape[-1]]) > 0.7


def test_dictionaries_tuples_and_data_sets_are_the_same():
    model = make()
    model.compile("adam")
    by_name = model.evaluate({"source": SOURCE, "fed": FED}, LABELS, verbose=0)
    in_order = model.evaluate((SOURCE, FED), LABELS, verbose=0)
    np.testing.assert_allclose(in_order, by_name, rtol=1e-5)
    logits, weights = model.predict((SOURCE, FED), verbose=0)
    assert logits.shape == (64, 5, 12) and weights.shape == (64, 5, 4)
    called, _ = model({"source": SOURCE}, FED)
    np.testing.assert_allclose(to_numpy(called), logits, atol=1e-5)


def test_padding_counts_neither_in_the_loss_nor_in_the_accuracy():
    model = make()
    model.compile("sgd", metrics=["accuracy"])
    plain = model.evaluate((SOURCE, FED), LABELS, verbose=0, batch_size=64)
    padded = [np.pad(x, [(0, 0), (0, 3)]) for x in (SOURCE, FED, LABELS)]
    more = model.evaluate(tuple(padded[:2]), padded[2], verbose=0, batch_size=64)
    np.testing.assert_allclose(more, plain, rtol=1e-5)
    logits, _ = model.predict((SOURCE, FED), verbose=0)
    logs = logits - np.logaddexp.reduce(logits, -1, keepdims=True)
    wanted = -np.mean(np.take_along_axis(logs, LABELS[..., None], -1))
    np.testing.assert_allclose(plain[0], wanted, rtol=1e-4)
    np.testing.assert_allclose(plain[1], np.mean(logits.argmax(-1) == LABELS), rtol=1e-5)


def test_attention_that_draws_learns_by_its_draws():
    model = make({"mode": "hard"})
    model.compile("adam")
    x = {"source": SOURCE, "fed": FED}
    model.evaluate(x, LABELS, verbose=0)
    before = [to_numpy(weight) for weight in model.reinforce.weights]
    model.fit(x, LABELS, verbose=0)
    for old, new in zip(before, model.reinforce.weights):
        assert np.abs(to_numpy(new) - old).max() > 0
    made = model({"source": SOURCE}, FED, training=True)
    logits, weights, features = made
    loss = model.compute_loss(x, LABELS, made, training=True)
    logs = np.take_along_axis(to_numpy(ops.log_softmax(logits)), LABELS[..., None], -1)[..., 0]
    drawn = model.reinforce(features, weights, ops.convert_to_tensor(logs), LABELS != 0)
    wanted = -logs.mean() + float(to_numpy(drawn)) / LABELS.size
    np.testing.assert_allclose(float(to_numpy(loss)), wanted, rtol=1e-4)


@pytest.mark.parametrize("search", ["beam", "greedy", "sample"])
def test_generate_is_the_search(search):
    model = make()
    model((SOURCE, FED))
    settings = {"max_length": 4, **({"seed": 1} if search == "sample" else {})}
    found = model.generate(SOURCE, search, **settings)
    again = model.generate({"source": SOURCE}, search, **settings)
    np.testing.assert_array_equal(to_numpy(found.ids), to_numpy(again.ids))
    assert found.ids.shape[0] == 64


def test_a_language_model_is_trained_and_goes_on_from_a_prefix():
    model = EncoderDecoder({}, {"type": "recurrent", "context": "state", **SIDES})
    model.compile("adam")
    model.fit({"fed": FED}, LABELS, verbose=0)
    found = model.generate({}, "greedy", prefix=SOURCE[:3, :2], max_length=5)
    np.testing.assert_array_equal(to_numpy(found.ids)[:, 0, :2], SOURCE[:3, :2])
    with pytest.raises(ValueError, match="goes on from `prefix`"):
        model.generate({})


def test_classes_and_vectors_are_learned_too():
    encoder = {"source": {"type": "tokens", **SIDES}}
    labels = SOURCE[:, 0] % 2
    model = EncoderDecoder(encoder, {"type": "classes", "classes": 2})
    model.compile(keras.optimizers.Adam(0.02))
    history = model.fit(SOURCE, labels, epochs=4, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    with pytest.raises(TypeError, match="ClassHead.*`predict`"):
        model.generate(SOURCE)
    vectors = EncoderDecoder(encoder, {"type": "vector", "width": 3})
    vectors.compile("adam")
    loss = vectors.evaluate({"source": SOURCE}, np.zeros((64, 3)), verbose=0)
    made = vectors.predict(SOURCE, verbose=0)
    np.testing.assert_allclose(loss, np.mean(made**2), rtol=1e-4)


def test_a_saved_model_is_compiled_as_it_was(tmp_path):
    model = make()
    model.compile(keras.optimizers.Adam(0.01))
    model.fit((SOURCE, FED), LABELS, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    expected = model.evaluate((SOURCE, FED), LABELS, verbose=0)
    np.testing.assert_allclose(
        loaded.evaluate((SOURCE, FED), LABELS, verbose=0), expected, rtol=1e-5
    )


def test_what_is_missing_is_said():
    model = make()
    with pytest.raises(ValueError, match=r"Expected the inputs \['source'\], and what the decoder"):
        model({"source": SOURCE})
    with pytest.raises(ValueError, match=r"Received: \['sauce', 'fed'\]"):
        model({"sauce": SOURCE, "fed": FED})
    with pytest.raises(ValueError, match="`search` must be one of"):
        model.generate(SOURCE, "best")
