import keras
import numpy as np
import pytest

from pairloom.models import AttentionPooling

RANDOM = np.random.default_rng(0)
MEMORY = RANDOM.normal(size=(2, 3, 4, 6)).astype("float32")
LENGTHS = np.array([[4, 2, 1], [3, 0, 0]])
MASK = np.arange(4) < LENGTHS[..., None]


def pool(layer, memory=MEMORY, mask=MASK):
    outputs = layer(memory, memory_mask=mask)
    return [keras.ops.convert_to_numpy(output) for output in outputs]


def by_hand(layer, states):
    """One sentence, `states (length, units)`."""
    kernel, bias, query = layer.get_weights()
    scores = np.array([np.tanh(h @ kernel + bias) @ query[:, 0] for h in states])
    weights = np.exp(scores) / np.exp(scores).sum()
    return sum(a * h for a, h in zip(weights, states)), weights


def make():
    layer = AttentionPooling(5)
    layer.build(MEMORY.shape)
    layer.set_weights([RANDOM.normal(size=w.shape) for w in layer.weights])
    return layer


def test_pooling_is_the_formula_over_what_is_there():
    layer = make()
    contexts, weights = pool(layer)
    for i, j in np.ndindex(2, 3):
        length = LENGTHS[i, j]
        if length:
            context, expected = by_hand(layer, MEMORY[i, j, :length])
            np.testing.assert_allclose(contexts[i, j], context, atol=1e-5)
            np.testing.assert_allclose(weights[i, j, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(weights[i, j, length:], 0.0)


def test_padding_never_changes_a_context():
    layer = make()
    context, weights = pool(layer)
    junk = np.pad(np.where(MASK[..., None], MEMORY, 1e3), [(0, 0)] * 2 + [(0, 3), (0, 0)])
    padded, padded_weights = pool(layer, junk, np.pad(MASK, [(0, 0)] * 2 + [(0, 3)]))
    np.testing.assert_allclose(padded, context, atol=1e-5)
    np.testing.assert_allclose(padded_weights[..., :4], weights, atol=1e-6)


def test_leading_axes_are_as_many_rows():
    layer = make()
    context, _ = pool(layer)
    flat, _ = pool(layer, MEMORY.reshape(6, 4, 6), MASK.reshape(6, 4))
    np.testing.assert_allclose(context.reshape(6, 6), flat, atol=1e-6)


def test_without_a_mask_everything_is_there():
    layer = make()
    without, _ = pool(layer, mask=None)
    everywhere, _ = pool(layer, mask=np.ones_like(MASK))
    np.testing.assert_allclose(without, everywhere, atol=1e-6)


def test_a_width_is_at_least_one():
    with pytest.raises(ValueError, match="`units` must be at least 1. Received: units=0"):
        AttentionPooling(0)


def test_the_mask_of_an_embedding_is_taken():
    ids = np.array([[3, 4, 0, 0], [5, 0, 0, 0]])
    embedding = keras.layers.Embedding(6, 6, mask_zero=True)
    layer = AttentionPooling(5)
    _, weights = layer(embedding(ids))
    expected = layer(embedding(ids), memory_mask=ids != 0)[1]
    weights = keras.ops.convert_to_numpy(weights)
    np.testing.assert_allclose(weights, keras.ops.convert_to_numpy(expected), atol=1e-6)
    assert not weights[ids == 0].any()


def test_a_memory_of_two_axes_is_refused():
    with pytest.raises(ValueError, match=r"at least three axes.*Received: memory \(5, 4\)"):
        AttentionPooling(3)(np.ones((5, 4), "float32"))
