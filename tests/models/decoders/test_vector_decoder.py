import keras
import numpy as np
import pytest

from pairloom.models import Corruption, FeatureEncoder, Memory, VectorDecoder

RANDOM = np.random.default_rng(0)
SUMMARY = RANDOM.normal(size=(3, 6)).astype("float32")
MEMORY = Memory(SUMMARY[:, None], np.ones((3, 1), bool), SUMMARY)


@pytest.fixture(autouse=True)
def plain_values():
    """Left as they are, for `fit` takes gradients."""


def test_a_vector_is_the_dense_layers_of_the_summary():
    decoder = VectorDecoder(5, (7, 8), "tanh", "sigmoid")
    vectors = keras.ops.convert_to_numpy(decoder(MEMORY))
    for row, x in enumerate(SUMMARY):
        *hidden, last = decoder.dense
        for layer in hidden:
            kernel, bias = layer.get_weights()
            x = np.tanh(x @ kernel + bias)
        kernel, bias = last.get_weights()
        expected = 1.0 / (1.0 + np.exp(-(x @ kernel + bias)))
        np.testing.assert_allclose(vectors[row], expected, atol=1e-5)


def test_a_width_is_at_least_one():
    with pytest.raises(ValueError, match="`width` must be at least 1. Received: width=0"):
        VectorDecoder(0)


def autoencoder(width, units, noise=0.0, **kwargs):
    inputs = keras.Input((width,))
    encoder = FeatureEncoder(units, **kwargs)
    memory = encoder(Corruption("gaussian", noise, seed=0)(inputs))
    hidden = kwargs.get("hidden", ())[::-1]
    decoder = VectorDecoder(width, hidden, kwargs.get("activation"))
    return keras.Model(inputs, decoder(memory)), decoder


def train(model, data, steps, learning_rate):
    """Each batch is the whole data set; one long epoch is faster than many short ones."""
    model.compile(keras.optimizers.Adam(learning_rate), "mse")
    tiled = np.tile(data, (steps, 1))
    model.fit(tiled, tiled, batch_size=len(data), shuffle=False, verbose=0)


def test_the_linear_autoencoder_spans_the_space_of_the_principal_components():
    keras.utils.set_random_seed(0)
    directions, _ = np.linalg.qr(RANDOM.normal(size=(8, 8)))
    deviations = np.array([3.0, 2.0, 1.5, 0.4, 0.3, 0.2, 0.1, 0.1])
    data = RANDOM.normal(size=(200, 8)) * deviations @ directions.T
    data = (data - data.mean(0)).astype("float32")
    model, decoder = autoencoder(8, 3)
    train(model, data, steps=600, learning_rate=0.03)
    learned, _ = np.linalg.qr(decoder.dense[-1].get_weights()[0].T)
    components = np.linalg.svd(data)[2][:3].T
    cosines = np.linalg.svd(learned.T @ components)[1]
    angles = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    assert angles.max() < 1.0
    # What is lost is what the other components hold.
    lost = np.mean((keras.ops.convert_to_numpy(model(data)) - data) ** 2)
    left = np.sum(np.linalg.svd(data)[1][3:] ** 2) / data.size
    np.testing.assert_allclose(lost, left, rtol=0.02)


def test_a_denoising_autoencoder_learns_to_restore_what_noise_spoiled():
    keras.utils.set_random_seed(0)
    # Points on a circle in eight dimensions, which fill two of them.
    angles = RANDOM.uniform(0, 2 * np.pi, size=256)
    plane = RANDOM.normal(size=(2, 8)) / 2.0
    clean = (np.stack([np.cos(angles), np.sin(angles)], 1) @ plane).astype("float32")
    model, _ = autoencoder(8, 16, noise=0.3, hidden=(32,), activation="tanh")
    train(model, clean, steps=200, learning_rate=0.01)
    noisy = clean + RANDOM.normal(size=clean.shape, scale=0.3).astype("float32")
    restored = keras.ops.convert_to_numpy(model(noisy))
    assert np.mean((restored - clean) ** 2) < 0.5 * np.mean((noisy - clean) ** 2)
