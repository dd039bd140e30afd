import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import LSTMN

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(4, 5, 3)).astype("float32")
LENGTHS = [5, 3, 1, 0]
MASK = np.arange(5)[None] < np.array(LENGTHS)[:, None]


def made():
    layer = LSTMN(4)
    layer.build(INPUTS.shape)
    layer.bias.assign(RANDOM.normal(size=20))
    return layer


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_hand(layer, inputs):
    """The paper's equations, one by one, for one sequence `(time, width)`."""
    weights = (layer.kernel, layer.recurrent_kernel, layer.tape_kernel, layer.reading_kernel)
    w_x, w_r, w_tape, w_reading = (np.array(weight) for weight in weights)
    v, bias = np.array(layer.v)[:, 0], np.array(layer.bias)
    tape_h, tape_c, read, attended = [], [], np.zeros(4), np.zeros((5, 5))
    for t, x in enumerate(inputs):
        projected = x @ w_x + bias
        scores = [v @ np.tanh(h @ w_tape + projected[16:] + read @ w_reading) for h in tape_h]
        alpha = np.exp(scores) / np.sum(np.exp(scores))
        attended[t, :t] = alpha
        read = sum((a * h for a, h in zip(alpha, tape_h)), np.zeros(4))
        recalled = sum((a * c for a, c in zip(alpha, tape_c)), np.zeros(4))
        i, f, candidate, o = np.split(projected[:16] + read @ w_r, 4)
        c = sigmoid(f) * recalled + sigmoid(i) * np.tanh(candidate)
        tape_h.append(sigmoid(o) * np.tanh(c))
        tape_c.append(c)
    return tape_h, tape_c, attended


def test_it_is_the_paper_s_equations():
    layer = made()
    outputs, (h, c), weights = layer(INPUTS, inputs_mask=MASK)
    for row, length in enumerate(LENGTHS):
        tape_h, tape_c, attended = by_hand(layer, INPUTS[row, :length])
        np.testing.assert_allclose(weights[row], attended, atol=1e-5)
        np.testing.assert_allclose(outputs[row, length:], 0.0)
        if length:
            np.testing.assert_allclose(outputs[row, :length], tape_h, atol=1e-5)
            np.testing.assert_allclose(h[row], tape_h[-1], atol=1e-5)
            np.testing.assert_allclose(c[row], tape_c[-1], atol=1e-5)


def test_padding_never_changes_a_result():
    layer = made()
    outputs, (h, _), weights = layer(INPUTS, inputs_mask=MASK)
    junk = np.concatenate([np.where(MASK[..., None], INPUTS, 9.0), INPUTS[:, :2]], 1)
    padded, (last, _), longer = layer(junk, inputs_mask=np.pad(MASK, [(0, 0), (0, 2)]))
    np.testing.assert_allclose(padded[:, :5], outputs, atol=1e-6)
    np.testing.assert_allclose(last, h, atol=1e-6)
    np.testing.assert_allclose(longer[:, :5, :5], weights, atol=1e-6)


def test_nothing_to_read_gives_finite_gradients(gradients):
    layer = made()

    def loss(inputs):
        outputs, states, weights = layer(inputs, inputs_mask=MASK)
        return ops.sum(outputs**2) + ops.sum(states[0]) + ops.sum(weights**2)

    for gradient in gradients(loss, [INPUTS], layer):
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() > 0


def test_gradients_agree_with_differences(gradients, slopes):
    layer = made()

    def value(inputs):
        outputs, _, weights = layer(inputs, inputs_mask=MASK[:2])
        return ops.sum(outputs**2) + ops.sum(weights**3)

    (ours,), (wanted,) = gradients(value, [INPUTS[:2]]), slopes(value, [INPUTS[:2]])
    np.testing.assert_allclose(ours, wanted, atol=2e-2)


def test_save_and_load(tmp_path):
    inputs = keras.Input((5, 3))
    model = keras.Model(inputs, LSTMN(4)(inputs)[0])
    model.save(tmp_path / "lstmn.keras")
    loaded = keras.models.load_model(tmp_path / "lstmn.keras")
    np.testing.assert_allclose(loaded(INPUTS), model(INPUTS), atol=1e-6)


def test_units_are_needed():
    with pytest.raises(ValueError, match="at least 1. Received: units=0"):
        LSTMN(0)


def test_the_mask_of_an_embedding_is_taken():
    ids = np.array([[3, 4, 0, 0], [5, 0, 0, 0]])
    embedding = keras.layers.Embedding(6, 6, mask_zero=True)
    layer = LSTMN(4)
    outputs, states, weights = layer(embedding(ids))
    expected = layer(embedding(ids), inputs_mask=ids != 0)
    for ours, wanted in zip(
        keras.tree.flatten((outputs, states, weights)), keras.tree.flatten(expected)
    ):
        np.testing.assert_allclose(
            ops.convert_to_numpy(ours), ops.convert_to_numpy(wanted), atol=1e-6
        )
    assert not ops.convert_to_numpy(outputs)[ids == 0].any()
