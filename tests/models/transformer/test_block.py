import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models.transformer import (
    FeedForward,
    TransformerBlock,
    embed,
    embedding_of_width,
)

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(2, 4, 8)).astype("float32")
MEMORY = RANDOM.normal(size=(2, 3, 6)).astype("float32")
MASK = np.array([[1, 1, 1], [1, 0, 0]], bool)


def array(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def make(cross=True, **kwargs):
    block = TransformerBlock(8, 2, 16, cross=cross, **kwargs)
    block.build(INPUTS.shape, MEMORY.shape if cross else None)
    weights = [RANDOM.normal(0, 0.5, np.shape(w)) for w in block.get_weights()]
    block.set_weights(weights)
    return block


def norm_by_hand(x, norm):
    gamma, beta = (np.array(w) for w in norm.get_weights())
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-6) * gamma + beta


def test_the_network_of_a_position_is_the_paper_s():
    layer = FeedForward(16)
    layer.build(INPUTS.shape)
    layer.set_weights([RANDOM.normal(size=np.shape(w)) for w in layer.get_weights()])
    w, b, v, c = (np.array(weight) for weight in layer.get_weights())
    expected = np.maximum(0, INPUTS @ w + b) @ v + c
    np.testing.assert_allclose(array(layer(INPUTS)), expected, atol=1e-4)
    with pytest.raises(ValueError, match="`hidden_units` must be at least 1.*hidden_units=0"):
        FeedForward(0)


def test_a_block_adds_each_part_s_answer_to_its_normalised_input():
    block = make()
    outputs, weights = block(INPUTS, MEMORY, memory_mask=MASK, causal=True)
    x = INPUTS
    asked = norm_by_hand(x, block.self_norm).astype("float32")
    x = x + array(block.self_attention(asked, asked, use_causal_mask=True)[0])
    asked = norm_by_hand(x, block.cross_norm).astype("float32")
    context, expected_weights = block.cross_attention(asked, MEMORY, memory_mask=MASK)
    x = x + array(context)
    x = x + array(block.feed_forward(norm_by_hand(x, block.feed_norm).astype("float32")))
    np.testing.assert_allclose(array(outputs), x, atol=1e-4)
    np.testing.assert_allclose(array(weights), array(expected_weights), atol=1e-5)


@pytest.mark.parametrize("cross", [False, True])
def test_symbolic_shapes_are_those_of_tensors(cross, tmp_path):
    block = TransformerBlock(8, 2, 16, dropout=0.1, cross=cross)
    inputs, memory = keras.Input((4, 8)), keras.Input((3, 6))
    given = [inputs, memory] if cross else [inputs]
    symbolic = block(*given)
    model = keras.Model(given, symbolic)
    arrays = [INPUTS, MEMORY] if cross else [INPUTS]
    expected = model(arrays)
    for promised, got in zip(symbolic, expected):
        assert (2, *promised.shape[1:]) == tuple(got.shape)
    model.save(tmp_path / "block.keras")
    loaded = keras.models.load_model(tmp_path / "block.keras")
    np.testing.assert_allclose(array(loaded(arrays)[0]), array(expected[0]), atol=1e-6)


def test_a_block_that_looks_at_a_memory_needs_one():
    with pytest.raises(ValueError, match="needs a memory. Received: memory=None"):
        TransformerBlock(8, 2, 16, cross=True).build(INPUTS.shape)


def test_ids_and_places_are_of_the_same_size():
    embedding = embedding_of_width(50, 64, None)
    ids = RANDOM.integers(0, 50, (4, 10))
    vectors = array(embed(embedding, ids))
    table = array(embedding.embeddings)
    places = vectors - 8.0 * table[ids]
    np.testing.assert_allclose(places, np.broadcast_to(places[:1], places.shape), atol=1e-5)
    sizes = [np.linalg.norm(x, axis=-1).mean() for x in (8.0 * table[ids], places)]
    assert 1.0 < sizes[0] / sizes[1] < 2.0
    later = array(embed(embedding, ids[:, 3:], offset=3))
    np.testing.assert_allclose(later, vectors[:, 3:], atol=1e-5)


def test_a_shared_embedding_must_be_as_wide_as_the_blocks():
    with pytest.raises(
        ValueError, match="as wide as its `units`.*units=8, an embedding of width 6"
    ):
        embedding_of_width(50, 8, keras.layers.Embedding(50, 6))
