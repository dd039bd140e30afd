import re
import warnings

import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import (
    AdditiveScore,
    GeneralScore,
    HardAttention,
    LocalAttention,
    MultiHeadAttention,
    SoftAttention,
)
from pairloom.models.attention import masked_softmax

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(3, 2, 4)).astype("float32")
MEMORY = RANDOM.normal(size=(3, 5, 6)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], bool)


def attend(attention, memory=MEMORY, mask=MASK):
    return attention(QUERY, memory, memory_mask=mask)


@pytest.mark.parametrize("score", [AdditiveScore(7), GeneralScore()])
def test_context_is_the_weighted_sum_of_what_is_there(score):
    attention = SoftAttention(score)
    context, weights = attend(attention)
    scores = np.array(score(QUERY, MEMORY))
    for b, length in enumerate([5, 2]):
        for i in range(2):
            exponentials = np.exp(scores[b, i, :length])
            expected = exponentials / exponentials.sum()
            np.testing.assert_allclose(weights[b, i, :length], expected, atol=1e-5)
            np.testing.assert_allclose(weights[b, i, length:], 0.0)
            np.testing.assert_allclose(context[b, i], expected @ MEMORY[b, :length], atol=1e-5)


def test_padding_never_changes_the_context():
    attention = SoftAttention(AdditiveScore(7))
    context, weights = attend(attention)
    junk = np.concatenate([np.where(MASK[..., None], MEMORY, 1e3), np.full((3, 2, 6), 1e3)], 1)
    padded, padded_weights = attend(
        attention, junk.astype("float32"), np.pad(MASK, [(0, 0), (0, 2)])
    )
    np.testing.assert_allclose(padded, context, atol=1e-5)
    np.testing.assert_allclose(padded_weights[..., :5], weights, atol=1e-6)


def test_nothing_to_attend_to_gives_zeros_and_finite_gradients(gradients):
    attention = SoftAttention(AdditiveScore(7))

    def loss(query, memory):
        context, weights = attention(query, memory, memory_mask=MASK)
        return ops.sum(context**2) + ops.sum(weights**2)

    context, weights = attention(QUERY, MEMORY, memory_mask=MASK)
    np.testing.assert_array_equal(context[2], 0.0)
    np.testing.assert_array_equal(weights[2], 0.0)
    for gradient in gradients(loss, [QUERY, MEMORY]):
        assert np.isfinite(gradient).all()
        np.testing.assert_array_equal(gradient[2], 0.0)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(policy):
    full = SoftAttention(GeneralScore())
    expected, _ = attend(full)
    half = SoftAttention(GeneralScore(dtype=policy), dtype=policy)
    half.build(QUERY.shape, MEMORY.shape)
    half.set_weights(full.get_weights())
    context, weights = attend(half)
    wanted = policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(context.dtype) == wanted
    assert keras.backend.standardize_dtype(weights.dtype) == wanted
    np.testing.assert_allclose(ops.cast(context, "float32"), expected, atol=0.05)


def test_softmax_survives_scores_that_overflow_half_precision():
    scores = ops.convert_to_tensor([[6e4, 6e4, -6e4]], "float16")
    np.testing.assert_allclose(masked_softmax(scores), [[0.5, 0.5, 0.0]])


def test_save_and_load(tmp_path):
    query, memory = keras.Input((2, 4)), keras.Input((5, 6))
    model = keras.Model([query, memory], SoftAttention(AdditiveScore(7))(query, memory))
    expected, _ = model([QUERY, MEMORY])
    model.save(tmp_path / "attention.keras")
    loaded = keras.models.load_model(tmp_path / "attention.keras")
    np.testing.assert_allclose(loaded([QUERY, MEMORY])[0], expected, atol=1e-6)


@pytest.mark.needs_tensorflow
def test_it_can_be_exported(tmp_path):
    import tensorflow as tf

    query, memory = keras.Input((2, 4)), keras.Input((5, 6))
    model = keras.Model([query, memory], SoftAttention(AdditiveScore(7))(query, memory))
    expected, _ = model([QUERY, MEMORY])
    model.export(tmp_path / "saved", verbose=False)
    reloaded = tf.saved_model.load(str(tmp_path / "saved"))
    served = reloaded.serve([QUERY, MEMORY])
    np.testing.assert_allclose(served[0], expected, atol=1e-6)


def test_a_query_of_two_axes_is_refused():
    with pytest.raises(ValueError, match=r"three axes.*Received: query \(3, 4\), memory"):
        SoftAttention(GeneralScore())(QUERY[:, 0], MEMORY)


MODES_MADE = {
    "soft": lambda: SoftAttention(GeneralScore()),
    "hard": lambda: HardAttention(GeneralScore()),
    "local": lambda: LocalAttention(GeneralScore()),
    "multi-head": lambda: MultiHeadAttention(2, 4),
}


@pytest.mark.parametrize("make", MODES_MADE.values(), ids=MODES_MADE)
@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 1, 5), (5,), (3, 4), (1, 5)])
@pytest.mark.parametrize("called", [True, False])
def test_a_mask_that_is_not_of_batch_and_memory_time_is_refused(make, shape, called):
    attention = make()
    if called:
        attention(QUERY, MEMORY)
    message = rf"must be `\(batch, memory_time\)`.*{re.escape(f'memory_mask {shape}')}"
    with pytest.raises(ValueError, match=message):
        attention(QUERY, MEMORY, memory_mask=np.ones(shape, bool))


@pytest.mark.parametrize("make", MODES_MADE.values(), ids=MODES_MADE)
def test_every_mode_refuses_a_query_of_two_axes(make):
    with pytest.raises(ValueError, match=r"three axes.*Received: query \(3, 4\), memory"):
        make()(QUERY[:, 0], MEMORY)


@pytest.mark.parametrize("mode", [SoftAttention, HardAttention, LocalAttention])
@pytest.mark.parametrize("score", ["dot", GeneralScore, None])
def test_a_score_that_is_no_layer_is_refused(mode, score):
    with pytest.raises(TypeError, match="`score` must be a score layer.*Received: score="):
        mode(score)


def test_one_position_gets_all_the_weight_without_a_warning(gradients):
    scores = np.array([[[3.0]], [[-2.0]]], "float32")
    mask = np.array([[[True]], [[False]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        np.testing.assert_array_equal(masked_softmax(ops.convert_to_tensor(scores)), 1.0)
        found = masked_softmax(ops.convert_to_tensor(scores), mask)
        np.testing.assert_array_equal(found, [[[1.0]], [[0.0]]])
        (gradient,) = gradients(lambda x: ops.sum(masked_softmax(x, mask)), [scores])
    np.testing.assert_array_equal(gradient, 0.0)
