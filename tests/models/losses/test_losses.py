import numpy as np
import pytest
from keras import ops

from pairloom.models.losses import (
    Reinforce,
    doubly_stochastic,
    masked_cross_entropy,
    supervised_attention,
)

RANDOM = np.random.default_rng(0)
LOGITS = RANDOM.normal(size=(2, 3, 5)).astype("float32")
LABELS = np.array([[1, 2, 0], [4, 0, 0]])


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum())


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_masked_cross_entropy_is_its_formula(smoothing):
    losses = []
    for b, t in [(0, 0), (0, 1), (1, 0)]:
        wanted = np.full(5, smoothing / 5)
        wanted[LABELS[b, t]] += 1 - smoothing
        losses.append(-wanted @ log_softmax(LOGITS[b, t]))
    found = masked_cross_entropy(LOGITS, LABELS, label_smoothing=smoothing)
    np.testing.assert_allclose(found, np.mean(losses), rtol=1e-5)


def test_padding_never_changes_the_cross_entropy():
    padded = np.pad(LOGITS, [(0, 0), (0, 2), (0, 0)], constant_values=np.inf)
    labels = np.pad(LABELS, [(0, 0), (0, 2)])
    expected = masked_cross_entropy(LOGITS, LABELS)
    np.testing.assert_allclose(masked_cross_entropy(padded, labels), expected, rtol=1e-6)


def test_a_mask_may_count_label_zero():
    found = masked_cross_entropy(LOGITS[:1], LABELS[:1], np.array([[False, False, True]]))
    np.testing.assert_allclose(found, -log_softmax(LOGITS[0, 2])[0], rtol=1e-5)


def test_no_label_at_all_costs_nothing():
    assert float(masked_cross_entropy(LOGITS, np.zeros((2, 3), int))) == 0.0


def test_smoothing_everything_is_refused():
    with pytest.raises(ValueError, match="below 1. Received: label_smoothing=1.0"):
        masked_cross_entropy(LOGITS, LABELS, label_smoothing=1.0)


WEIGHTS = np.array([[[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0]]], "float32")


def test_supervised_attention_is_the_cross_entropy_with_the_alignment():
    alignment = np.array([[[1, 1, 0], [0, 0, 0], [0, 0, 1]]])
    first = -(0.5 * np.log(0.5) + 0.5 * np.log(0.25))
    found = supervised_attention(WEIGHTS, alignment, np.array([[True, True, False]]))
    np.testing.assert_allclose(found, first, rtol=1e-5)
    with_third = supervised_attention(WEIGHTS, alignment)
    np.testing.assert_allclose(with_third, (first - np.log(1e-9)) / 2, rtol=1e-5)


def test_supervision_moves_attention_to_the_alignment(gradients):
    scores = np.zeros((1, 2, 3), "float32")
    alignment = np.array([[[0, 1, 0], [0, 0, 1]]])
    for _ in range(20):
        (slope,) = gradients(lambda x: supervised_attention(ops.softmax(x), alignment), [scores])
        scores = scores - slope
    np.testing.assert_array_equal(np.argmax(scores, -1), [[1, 2]])


def test_doubly_stochastic_wants_each_position_seen_once():
    target_mask, memory_mask = np.array([[True, True, False]]), np.array([[True, True, False]])
    found = doubly_stochastic(WEIGHTS, target_mask, memory_mask)
    np.testing.assert_allclose(found, [(1 - 0.6) ** 2 + (1 - 1.05) ** 2], rtol=1e-5)
    assert float(doubly_stochastic(np.eye(3)[None])[0]) == 0.0


def by_hand(rewards, mask, discount):
    """`R_t`, one at a time."""
    rewards = rewards * mask
    returns = np.zeros_like(rewards)
    for b, t in np.ndindex(rewards.shape):
        returns[b, t] = sum(discount**k * r for k, r in enumerate(rewards[b, t:]))
    return returns


@pytest.mark.parametrize("discount", [0.0, 0.5, 1.0])
def test_reinforce_is_the_paper_s_gradient(discount, gradients):
    features = RANDOM.normal(size=(2, 3, 4)).astype("float32")
    rewards = RANDOM.normal(size=(2, 3)).astype("float32")
    mask = np.array([[True, True, True], [True, False, False]])
    layer = Reinforce(discount)
    layer.build(features.shape)
    log_probability = RANDOM.normal(size=(2, 3)).astype("float32")

    def loss(log_probability):
        # As HardAttention gives them: 0 and 1, the gradient being the log probability's.
        one = 1.0 + log_probability - ops.stop_gradient(log_probability)
        weights = ops.stack([ops.zeros_like(one), one], -1)
        return layer(features, weights, rewards, mask)

    returns = by_hand(rewards, mask, discount)
    kernel, bias = (np.array(x) for x in layer.baseline.weights)
    before = np.concatenate([np.zeros((2, 1, 4)), features[:, :-1]], 1)
    baseline = (before @ kernel)[..., 0] + bias
    expected = -(returns - baseline) * mask
    (gradient,) = gradients(loss, [log_probability])
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
    value = loss(ops.convert_to_tensor(log_probability))
    np.testing.assert_allclose(value, (0.1 * (returns - baseline) ** 2 * mask).sum(), rtol=1e-5)


def test_an_impossible_discount_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1. Received: discount=2"):
        Reinforce(2)
