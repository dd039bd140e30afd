import keras
import numpy as np
import pytest

from pairloom.models import HierarchicalEncoder
from pairloom.models.embedding import make_embedding

IDS = np.array([[[4, 5, 6], [7, 0, 0]], [[8, 9, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]])


def make(**kwargs):
    return HierarchicalEncoder(10, 6, embedding_units=4, **kwargs)


def encode(encoder, ids=IDS, **kwargs):
    memory = encoder(ids, **kwargs)
    return keras.tree.map_structure(keras.ops.convert_to_numpy, memory)


def softmax_pool(pooling, states):
    kernel, bias, query = pooling.get_weights()
    scores = np.array([np.tanh(h @ kernel + bias) @ query[:, 0] for h in states])
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ states, weights


@pytest.mark.parametrize("pooling", ["attention", "last"])
def test_a_memory_is_the_formula_word_by_word_and_sentence_by_sentence(pooling, numpy_bigru):
    encoder = make(pooling=pooling)
    memory = encode(encoder)
    (table,) = encoder.embedding.get_weights()
    for row, sentences in enumerate([[[4, 5, 6], [7]], [[8, 9]]]):
        vectors = []
        for number, words in enumerate(sentences):
            recurrence = encoder.word_level.recurrences[0]
            states, vector = numpy_bigru(recurrence, table[words])
            if pooling == "attention":
                vector, weights = softmax_pool(encoder.pooling, states)
                got = memory.inner[row, number]
                np.testing.assert_allclose(got[: len(words)], weights, atol=1e-5)
                np.testing.assert_array_equal(got[len(words) :], 0.0)
            vectors.append(vector)
        recurrence = encoder.sentence_level.recurrences[0]
        states, summary = numpy_bigru(recurrence, np.array(vectors))
        np.testing.assert_allclose(memory.states[row, : len(states)], states, atol=1e-5)
        np.testing.assert_allclose(memory.summary[row], summary, atol=1e-5)
    np.testing.assert_array_equal(memory.mask, (IDS != 0).any(-1))


def test_the_last_state_of_a_sentence_has_no_inner_weights():
    assert make(pooling="last")(IDS).inner == ()


@pytest.mark.parametrize("kwargs", [{}, {"pooling": "last", "cell": "lstm"}, {"layers": 2}])
def test_neither_more_words_nor_more_sentences_change_a_memory(kwargs):
    encoder = make(**kwargs)
    memory = encode(encoder)
    padded = encode(encoder, np.pad(IDS, [(0, 0), (0, 2), (0, 3)]))
    np.testing.assert_allclose(padded.states[:, :2], memory.states, atol=1e-6)
    np.testing.assert_array_equal(padded.states[:, 2:], 0.0)
    np.testing.assert_allclose(padded.summary, memory.summary, atol=1e-6)
    np.testing.assert_array_equal(padded.mask[:, :2], memory.mask)
    assert not padded.mask[:, 2:].any()
    if encoder.pooling is not None:
        np.testing.assert_allclose(padded.inner[:, :2, :3], memory.inner, atol=1e-6)


def test_a_sentence_is_read_alone_but_by_the_upper_level():
    encoder = make(bidirectional=False)
    inner = encode(encoder).inner
    other = IDS.copy()
    other[0, 1] = [3, 2, 1]
    np.testing.assert_allclose(encode(encoder, other).inner[0, 0], inner[0, 0], atol=1e-6)


def test_words_are_their_own_states_plus_their_sentences():
    encoder = make(words=True)
    memory = encode(encoder)
    encoder.words = False
    sentences = encode(encoder)
    rows = keras.ops.reshape(IDS, (6, 3))
    words, *_ = encoder.word_level(encoder.embedding(rows), inputs_mask=rows != 0)
    words = keras.ops.convert_to_numpy(words).reshape(3, 2, 3, 6)
    expected = np.where(IDS[..., None] != 0, words + sentences.states[:, :, None], 0.0)
    np.testing.assert_allclose(memory.states, expected.reshape(3, 6, 6), atol=1e-6)
    np.testing.assert_array_equal(memory.mask, IDS.reshape(3, 6) != 0)
    np.testing.assert_allclose(memory.summary, sentences.summary, atol=1e-6)
    assert memory.inner == ()


def test_an_embedding_can_be_shared():
    embedding = make_embedding(10, 5)
    encoder = make(embedding=embedding)
    encode(encoder)
    assert encoder.embedding is embedding
    assert encoder.word_level.recurrences[0].cell.kernel.shape[0] == 5


def test_dropout_is_off_unless_training():
    encoder = make(dropout=0.5)
    np.testing.assert_array_equal(encode(encoder).states, encode(encoder).states)
    assert np.abs(encode(encoder, training=True).states - encode(encoder).states).max() > 0


def test_an_unknown_pooling_is_an_error():
    with pytest.raises(ValueError, match="`pooling` must be one of.*Received: pooling='mean'"):
        make(pooling="mean")
