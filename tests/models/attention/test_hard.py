import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import DotScore, GeneralScore, HardAttention, SoftAttention

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(3, 2, 4)).astype("float32")
MEMORY = RANDOM.normal(size=(3, 5, 4)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], bool)


def test_without_training_the_likeliest_position_is_taken():
    context, weights = HardAttention(DotScore())(QUERY, MEMORY, memory_mask=MASK)
    for b, length in enumerate([5, 2]):
        for i in range(2):
            best = max(range(length), key=lambda j: QUERY[b, i] @ MEMORY[b, j])
            np.testing.assert_array_equal(weights[b, i], np.eye(5)[best])
            np.testing.assert_allclose(context[b, i], MEMORY[b, best])
    np.testing.assert_array_equal(context[2], 0.0)
    np.testing.assert_array_equal(weights[2], 0.0)


def test_draws_come_as_often_as_the_softmax_says():
    rows = 4000
    query = np.repeat(QUERY[:1, :1], rows, 0)
    memory, mask = np.repeat(MEMORY[:1], rows, 0), np.repeat([[1, 1, 0, 1, 1]], rows, 0) > 0
    attention = HardAttention(DotScore(), expected_share=0.0, seed=3)
    _, weights = attention(query, memory, memory_mask=mask, training=True)
    scores = np.where(mask[0], MEMORY[0] @ QUERY[0, 0], -np.inf)
    wanted = np.exp(scores) / np.exp(scores).sum()
    counted = np.array(weights)[:, 0].mean(0)
    # Four standard deviations of a count of 4,000.
    np.testing.assert_array_less(np.abs(counted - wanted), 4 * np.sqrt(0.25 / rows) + 1e-9)
    assert counted[2] == 0


def one_step(gradient="reinforce", seed=5, query=QUERY):
    """A new layer's first draw, always the same from the same seed."""
    attention = HardAttention(DotScore(), gradient, 0.0, seed)
    return attention(query, MEMORY, memory_mask=MASK, training=True)


def test_a_reinforced_weight_s_gradient_is_that_of_its_log_probability(gradients):
    context, weights = one_step()
    np.testing.assert_array_equal(np.sort(weights[0], -1), [[0, 0, 0, 0, 1]] * 2)
    np.testing.assert_allclose(context[0], np.array(weights[0]) @ MEMORY[0], atol=1e-6)
    (by_context,) = gradients(lambda query: ops.sum(one_step(query=query)[0]), [QUERY])
    np.testing.assert_array_equal(by_context, 0.0)
    (gradient,) = gradients(lambda query: ops.sum(one_step(query=query)[1]), [QUERY])
    for b, length in enumerate([5, 2]):
        for i in range(2):
            scores = MEMORY[b, :length] @ QUERY[b, i]
            p = np.exp(scores) / np.exp(scores).sum()
            chosen = int(np.argmax(weights[b, i]))
            # d/dq log softmax(M q)_chosen = m_chosen - sum_j p_j m_j
            expected = MEMORY[b, chosen] - p @ MEMORY[b, :length]
            np.testing.assert_allclose(gradient[b, i], expected, atol=1e-5)
    np.testing.assert_array_equal(gradient[2], 0.0)


def test_a_share_of_the_draws_is_replaced_by_soft_weights():
    rows = 2000
    query, memory = np.repeat(QUERY[:1], rows, 0), np.repeat(MEMORY[:1], rows, 0)
    soft_context, soft = SoftAttention(DotScore())(QUERY[:1], MEMORY[:1])
    attention = HardAttention(DotScore(), expected_share=0.3, seed=2)
    context, weights = (np.array(x) for x in attention(query, memory, training=True))
    replaced = np.abs(weights - np.array(soft)).max(-1) < 1e-6
    assert abs(replaced.mean() - 0.3) < 0.04
    wanted = np.broadcast_to(soft_context, context.shape)[replaced]
    np.testing.assert_allclose(context[replaced], wanted, atol=1e-5)
    np.testing.assert_array_equal(np.sort(weights[~replaced], -1)[:, -1], 1.0)


def test_an_impossible_share_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1. Received: expected_share=2"):
        HardAttention(DotScore(), expected_share=2)


def test_straight_through_has_the_soft_weights_gradient(gradients):
    def drawn(query):
        return ops.sum(one_step("straight_through", query=query)[0])

    def soft(query):
        scores = ops.matmul(query, MEMORY.transpose(0, 2, 1))
        return ops.sum(ops.matmul(ops.softmax(ops.where(MASK[:, None], scores, -1e9)), MEMORY))

    _, weights = one_step("straight_through")
    np.testing.assert_allclose(np.sort(weights[0], -1), [[0, 0, 0, 0, 1]] * 2, atol=1e-6)
    (ours,), (wanted,) = gradients(drawn, [QUERY]), gradients(soft, [QUERY])
    np.testing.assert_allclose(ours[:2], wanted[:2], atol=1e-5)
    assert np.isfinite(ours).all()


def test_the_same_seed_draws_the_same():
    np.testing.assert_array_equal(one_step(seed=1)[1], one_step(seed=1)[1])
    attention = HardAttention(DotScore(), seed=1)
    many = [np.array(attention(QUERY, MEMORY, training=True)[1]) for _ in range(8)]
    assert any((many[0] != other).any() for other in many[1:])


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision(policy):
    attention = HardAttention(GeneralScore(dtype=policy), "reinforce", 0.0, 1, dtype=policy)
    for training in (False, True):
        context, weights = attention(QUERY, MEMORY, memory_mask=MASK, training=training)
        wanted = policy.removeprefix("mixed_")
        assert keras.backend.standardize_dtype(context.dtype) == wanted
        assert keras.backend.standardize_dtype(weights.dtype) == wanted
        np.testing.assert_array_equal(ops.cast(ops.sum(weights, -1), "float32")[:2], 1.0)


def test_save_and_load(tmp_path):
    query, memory = keras.Input((2, 4)), keras.Input((5, 4))
    layer = HardAttention(GeneralScore(), "straight_through", seed=4)
    model = keras.Model([query, memory], layer(query, memory))
    model.save(tmp_path / "hard.keras")
    loaded = keras.models.load_model(tmp_path / "hard.keras")
    for ours, wanted in zip(loaded([QUERY, MEMORY]), model([QUERY, MEMORY])):
        np.testing.assert_allclose(ours, wanted, atol=1e-6)
    assert loaded.layers[-1].gradient == "straight_through"


def test_an_unknown_gradient_is_refused():
    with pytest.raises(ValueError, match="Received: gradient='none'"):
        HardAttention(DotScore(), gradient="none")
