import keras
import numpy as np
import pytest

from pairloom.models import FeatureEncoder

RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(3, 4, 5)).astype("float32")
LENGTHS = [4, 2, 0]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]


def encode(encoder, features=FEATURES, mask=MASK):
    memory = encoder(features, features_mask=mask)
    return keras.tree.map_structure(keras.ops.convert_to_numpy, memory)


def dense(encoder, x):
    """The dense layers, over one vector."""
    for layer in encoder.dense:
        kernel, bias = layer.get_weights()
        x = np.tanh(x @ kernel + bias)
    return x


def test_states_are_the_dense_layers_and_the_summary_their_mean():
    encoder = FeatureEncoder(6, hidden=(7, 8), activation="tanh")
    memory = encode(encoder)
    for row, length in enumerate(LENGTHS):
        expected = [dense(encoder, x) for x in FEATURES[row, :length]]
        for t in range(length):
            np.testing.assert_allclose(memory.states[row, t], expected[t], atol=1e-5)
        mean = np.mean(expected, 0) if length else 0.0
        np.testing.assert_allclose(memory.summary[row], mean, atol=1e-5)
        np.testing.assert_array_equal(memory.states[row, length:], 0.0)


def test_a_recurrence_runs_over_the_dense_layers_results(numpy_gru):
    encoder = FeatureEncoder(6, activation="tanh", cell="gru")
    memory = encode(encoder)
    for row, length in enumerate(LENGTHS[:2]):
        projected = np.array([dense(encoder, x) for x in FEATURES[row, :length]])
        states = numpy_gru(encoder.stack.recurrences[0].cell, projected)
        np.testing.assert_allclose(memory.states[row, :length], states, atol=1e-5)
        np.testing.assert_allclose(memory.summary[row], states[-1], atol=1e-5)


@pytest.mark.parametrize("cell", [None, "gru", "lstm"])
def test_padding_never_changes_a_memory(cell):
    encoder = FeatureEncoder(6, cell=cell, bidirectional=True)
    memory = encode(encoder)
    junk = np.pad(np.where(MASK[..., None], FEATURES, 9.0), [(0, 0), (0, 2), (0, 0)])
    padded = encode(encoder, junk, np.pad(MASK, [(0, 0), (0, 2)]))
    np.testing.assert_allclose(padded.states[:, :4], memory.states, atol=1e-6)
    np.testing.assert_array_equal(padded.states[:, 4:], 0.0)
    np.testing.assert_allclose(padded.summary, memory.summary, atol=1e-6)


def test_a_single_vector_is_a_sequence_of_one_and_its_code_the_summary():
    encoder = FeatureEncoder(6)
    memory = encode(encoder, FEATURES[:, 0], None)
    sequence = encode(encoder, FEATURES[:, :1], None)
    kernel, bias = encoder.dense[0].get_weights()
    np.testing.assert_allclose(memory.summary, FEATURES[:, 0] @ kernel + bias, atol=1e-5)
    np.testing.assert_allclose(memory.states[:, 0], memory.summary, atol=1e-6)
    np.testing.assert_allclose(memory.states, sequence.states, atol=1e-6)
    assert memory.mask.all() and memory.mask.shape == (3, 1)


def test_half_precision_counts_far_enough():
    encoder = FeatureEncoder(6, dtype="mixed_bfloat16")
    ones = np.ones((1, 3000, 5), "float32")
    memory = encoder(ones, features_mask=np.ones((1, 3000), bool))
    summary, state = (
        keras.ops.convert_to_numpy(keras.ops.cast(x, "float32"))
        for x in (memory.summary, memory.states[:, 0])
    )
    np.testing.assert_allclose(summary, state, atol=0.03)


def test_features_have_two_or_three_axes():
    with pytest.raises(ValueError, match=r"`features` must be of shape .*\(3, 4, 5, 1\)"):
        FeatureEncoder(6)(FEATURES[..., None])


@pytest.mark.parametrize("cell", [None, "gru", "lstmn"])
def test_the_mask_of_an_embedding_is_taken(cell):
    ids = np.array([[3, 4, 0, 0], [5, 0, 0, 0]])
    embedding = keras.layers.Embedding(6, 5, mask_zero=True)
    encoder = FeatureEncoder(6, cell=cell)
    found = encoder(embedding(ids))
    expected = encoder(embedding(ids), features_mask=ids != 0)
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(found.mask), ids != 0)
    for ours, wanted in zip(found[:3], expected[:3]):
        ours, wanted = (keras.ops.convert_to_numpy(x) for x in (ours, wanted))
        np.testing.assert_allclose(ours, wanted, atol=1e-6)


@pytest.mark.parametrize("cell", [None, "gru"])
def test_vectors_of_nan_are_none(cell):
    encoder = FeatureEncoder(6, activation="tanh", cell=cell)
    padded = np.where(MASK[..., None], FEATURES, np.nan).astype("float32")
    memory, expected = encode(encoder, padded, None), encode(encoder)
    np.testing.assert_array_equal(memory.mask, MASK)
    np.testing.assert_allclose(memory.states, expected.states, atol=1e-6)
    np.testing.assert_allclose(memory.summary, expected.summary, atol=1e-6)
