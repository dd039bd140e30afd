import keras
import numpy as np
import pytest

from pairloom.models import ClassHead, GeneralScore, Memory, SoftAttention

RANDOM = np.random.default_rng(0)
LENGTHS = [4, 2, 1]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]
STATES = RANDOM.normal(size=(3, 4, 6)).astype("float32")
SUMMARY = RANDOM.normal(size=(3, 5)).astype("float32")
QUERY = RANDOM.normal(size=(3, 7)).astype("float32")
MEMORY = Memory(STATES, MASK, SUMMARY)


def ask(head, memory=MEMORY, query=None, **kwargs):
    outputs = head(memory, query=query, **kwargs)
    return [keras.ops.convert_to_numpy(output) for output in outputs]


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum()


def logits_of(head, *parts):
    kernel, bias = head.output_layer.get_weights()
    return np.concatenate(parts) @ kernel + bias


@pytest.mark.parametrize("query", [None, QUERY])
def test_by_the_summary_and_if_there_is_one_the_query(query):
    head = ClassHead(3)
    logits, weights = ask(head, query=query)
    for row in range(3):
        parts = [SUMMARY[row]] if query is None else [query[row], SUMMARY[row]]
        np.testing.assert_allclose(logits[row], logits_of(head, *parts), atol=1e-5)
    np.testing.assert_array_equal(weights, np.zeros((3, 1, 4)))


def test_hidden_layers_stand_before_the_logits():
    head = ClassHead(3, hidden=[5, 4])
    logits, _ = ask(head, query=QUERY)
    for row in range(3):
        x = np.concatenate([QUERY[row], SUMMARY[row]])
        for dense in head.hidden:
            kernel, bias = dense.get_weights()
            x = np.maximum(x @ kernel + bias, 0)
        np.testing.assert_allclose(logits[row], logits_of(head, x), atol=1e-5)
    assert ClassHead.from_config(head.get_config()).get_config() == head.get_config()


def test_by_pooling_over_the_states():
    head = ClassHead(3, "pooling", units=8)
    logits, weights = ask(head)
    kernel, bias, query = head.pooling.get_weights()
    for row, length in enumerate(LENGTHS):
        states = STATES[row, :length]
        expected = softmax(np.array([np.tanh(h @ kernel + bias) @ query[:, 0] for h in states]))
        np.testing.assert_allclose(weights[row, 0, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(weights[row, 0, length:], 0.0)
        np.testing.assert_allclose(logits[row], logits_of(head, expected @ states), atol=1e-5)


def test_by_attention_asked_with_the_query():
    head = ClassHead(3, "attention", units=8)
    logits, weights = ask(head, query=QUERY)
    w, u, v = head.attention.score.get_weights()
    for row, length in enumerate(LENGTHS):
        states = STATES[row, :length]
        expected = softmax(np.array([np.tanh(QUERY[row] @ w + h @ u) @ v for h in states]))
        np.testing.assert_allclose(weights[row, 0, :length], expected, atol=1e-5)
        wanted = logits_of(head, QUERY[row], expected @ states)
        np.testing.assert_allclose(logits[row], wanted, atol=1e-5)


def test_any_attention_will_do_and_is_saved(tmp_path):
    head = ClassHead(3, "attention", attention=SoftAttention(GeneralScore()))
    inputs = [keras.Input(x.shape[1:], dtype=str(x.dtype)) for x in (*MEMORY[:3], QUERY)]
    model = keras.Model(inputs, head(Memory(*inputs[:3]), query=inputs[3]))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    logits, weights = loaded([*MEMORY[:3], QUERY])
    expected, expected_weights = ask(head, query=QUERY)
    np.testing.assert_allclose(keras.ops.convert_to_numpy(logits), expected, atol=1e-5)
    np.testing.assert_allclose(keras.ops.convert_to_numpy(weights), expected_weights, atol=1e-5)
    assert isinstance(loaded.layers[-1].attention.score, GeneralScore)


@pytest.mark.parametrize("context", ["summary", "pooling", "attention"])
def test_padding_never_changes_an_answer(context):
    head = ClassHead(3, context, units=8)
    logits, weights = ask(head, query=QUERY)
    junk = np.pad(np.where(MASK[..., None], STATES, 9.0), [(0, 0), (0, 2), (0, 0)])
    padded = Memory(junk, np.pad(MASK, [(0, 0), (0, 2)]), SUMMARY)
    padded_logits, padded_weights = ask(head, padded, QUERY)
    np.testing.assert_allclose(padded_logits, logits, atol=1e-5)
    np.testing.assert_allclose(padded_weights[..., :4], weights, atol=1e-6)


def test_dropout_is_off_unless_training():
    head = ClassHead(3, dropout=0.5)
    np.testing.assert_array_equal(ask(head)[0], ask(head)[0])
    assert np.abs(ask(head, training=True)[0] - ask(head)[0]).max() > 0


def test_attention_without_a_query_is_an_error():
    with pytest.raises(ValueError, match="`context='attention'` needs a query"):
        ClassHead(3, "attention")(MEMORY)


def test_an_impossible_setting_is_an_error():
    with pytest.raises(ValueError, match="`context` must be one of.*Received: context='mean'"):
        ClassHead(3, "mean")
    with pytest.raises(ValueError, match="`classes` must be at least 1. Received: classes=0"):
        ClassHead(0)
    with pytest.raises(ValueError, match="`attention` is for `context='attention'` only"):
        ClassHead(3, attention=SoftAttention(GeneralScore()))
