import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import DotScore, GeneralScore, LocalAttention

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(3, 4, 4)).astype("float32")
MEMORY = RANDOM.normal(size=(3, 9, 4)).astype("float32")
LENGTHS = [9, 3, 0]
MASK = np.arange(9)[None] < np.array(LENGTHS)[:, None]


def softmax_within(scores, inside):
    exponentials = np.where(inside, np.exp(scores), 0.0)
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("window", [1, 2, 20])
@pytest.mark.parametrize("first", [0, 5])
def test_the_monotonic_window_follows_the_query(window, first):
    attention = LocalAttention(DotScore(), window)
    position = np.broadcast_to(np.arange(first, first + 4), (3, 4))
    how = {} if first == 0 else {"position": position}
    context, weights = attention(QUERY, MEMORY, memory_mask=MASK, **how)
    for b, length in enumerate(LENGTHS[:2]):
        for i in range(4):
            place = min(first + i, length - 1)
            inside = [abs(j - place) <= window and j < length for j in range(9)]
            expected = softmax_within(MEMORY[b] @ QUERY[b, i], inside)
            np.testing.assert_allclose(weights[b, i], expected, atol=1e-5)
            np.testing.assert_allclose(context[b, i], expected @ MEMORY[b], atol=1e-5)
    np.testing.assert_array_equal(context[2], 0.0)
    np.testing.assert_array_equal(weights[2], 0.0)


@pytest.mark.parametrize("window", [1, 4])
def test_the_predicted_window_is_the_paper_s_formula(window):
    attention = LocalAttention(DotScore(), window, predictive=True)
    context, weights = attention(QUERY, MEMORY, memory_mask=MASK)
    w, v = np.array(attention.place_kernel), np.array(attention.place_vector)[:, 0]
    for b, length in enumerate(LENGTHS[:2]):
        for i in range(4):
            place = length / (1 + np.exp(-(v @ np.tanh(QUERY[b, i] @ w))))
            inside = [abs(j - place) <= window and j < length for j in range(9)]
            bell = np.exp(-((np.arange(9) - place) ** 2) / (2 * (window / 2) ** 2))
            expected = softmax_within(MEMORY[b] @ QUERY[b, i], inside) * bell
            np.testing.assert_allclose(weights[b, i], expected, atol=1e-5)
            np.testing.assert_allclose(context[b, i], expected @ MEMORY[b], atol=1e-5)
    np.testing.assert_array_equal(weights[2], 0.0)


@pytest.mark.parametrize("predictive", [False, True])
def test_padding_never_changes_the_context(predictive):
    attention = LocalAttention(DotScore(), 3, predictive)
    context, weights = attention(QUERY, MEMORY, memory_mask=MASK)
    junk = np.concatenate([np.where(MASK[..., None], MEMORY, 1e3), np.full((3, 2, 4), 1e3)], 1)
    padded = np.pad(MASK, [(0, 0), (0, 2)])
    again, longer = attention(QUERY, junk.astype("float32"), memory_mask=padded)
    np.testing.assert_allclose(again, context, atol=1e-5)
    np.testing.assert_allclose(longer[..., :9], weights, atol=1e-6)


# Left padding, gaps, and a row with nothing.
GAPS = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 0, 0, 1, 1, 0, 0, 1, 0], [0] * 9], bool)


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("predictive", [False, True])
def test_places_are_counted_over_gaps(window, predictive):
    attention = LocalAttention(DotScore(), window, predictive)
    context, weights = attention(QUERY, MEMORY, memory_mask=GAPS)
    for b, i in np.ndindex(2, 4):
        there = np.flatnonzero(GAPS[b])
        place = min(i, len(there) - 1)
        if predictive:
            w, v = np.array(attention.place_kernel), np.array(attention.place_vector)[:, 0]
            place = len(there) / (1 + np.exp(-(v @ np.tanh(QUERY[b, i] @ w))))
        distance = np.arange(len(there)) - place
        given = MEMORY[b][there]
        expected = softmax_within(given @ QUERY[b, i], np.abs(distance) <= window)
        if predictive:
            expected = expected * np.exp(-(distance**2) / (2 * (window / 2) ** 2))
        np.testing.assert_allclose(weights[b, i][GAPS[b]], expected, atol=1e-5)
        np.testing.assert_array_equal(weights[b, i][~GAPS[b]], 0.0)
        np.testing.assert_allclose(context[b, i], expected @ given, atol=1e-5)
    np.testing.assert_array_equal(weights[2], 0.0)


@pytest.mark.parametrize("predictive", [False, True])
def test_gradients_are_finite_and_reach_every_weight(predictive, gradients):
    attention = LocalAttention(GeneralScore(), 3, predictive)
    attention(QUERY, MEMORY)

    def loss(memory):
        return ops.sum(attention(QUERY, memory, memory_mask=MASK)[0] ** 2)

    by_memory, *by_weight = gradients(loss, [MEMORY], attention)
    assert len(by_weight) == (3 if predictive else 1)
    for gradient in (*by_weight, by_memory):
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() > 0
    np.testing.assert_array_equal(by_memory[2], 0.0)


def test_gradients_agree_with_differences(gradients, slopes):
    attention = LocalAttention(GeneralScore(), 20, predictive=True)
    attention(QUERY, MEMORY)

    def value(query, memory):
        return ops.sum(attention(query, memory, memory_mask=MASK)[0] ** 2)

    inputs = [QUERY, MEMORY]
    for ours, wanted in zip(gradients(value, inputs), slopes(value, inputs)):
        np.testing.assert_allclose(ours, wanted, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("predictive", [False, True])
def test_half_precision_stays_near_full(policy, predictive):
    full = LocalAttention(GeneralScore(), 20, predictive)
    expected, _ = full(QUERY, MEMORY, memory_mask=MASK)
    half = LocalAttention(GeneralScore(dtype=policy), 20, predictive, dtype=policy)
    half.build(QUERY.shape, MEMORY.shape)
    half.set_weights(full.get_weights())
    context, weights = half(QUERY, MEMORY, memory_mask=MASK)
    wanted = policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(context.dtype) == wanted
    assert keras.backend.standardize_dtype(weights.dtype) == wanted
    np.testing.assert_allclose(ops.cast(context, "float32"), expected, atol=0.05)


@pytest.mark.parametrize("predictive", [False, True])
def test_save_and_load(predictive, tmp_path):
    query, memory = keras.Input((4, 4)), keras.Input((9, 4))
    layer = LocalAttention(GeneralScore(), 2, predictive)
    model = keras.Model([query, memory], layer(query, memory))
    model.save(tmp_path / "local.keras")
    loaded = keras.models.load_model(tmp_path / "local.keras")
    for ours, wanted in zip(loaded([QUERY, MEMORY]), model([QUERY, MEMORY])):
        np.testing.assert_allclose(ours, wanted, atol=1e-6)


def test_a_window_reaches_somewhere():
    with pytest.raises(ValueError, match="`window` must be at least 1. Received: window=0."):
        LocalAttention(DotScore(), 0)
