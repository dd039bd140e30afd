import keras
import numpy as np
import pytest

from pairloom.models import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    HardAttention,
    LocalAttention,
    LocationScore,
    SoftAttention,
)
from pairloom.models.scores import SCORES, make_score

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(2, 3, 4)).astype("float32")
MEMORIES = {
    units: RANDOM.normal(size=(2, 5, units)).astype("float32")
    for units in (4, 6)  # as wide as the query, and wider
}
SAME_WIDTH = ("dot", "cosine")


def memory_for(name):
    return MEMORIES[4 if name in SAME_WIDTH else 6]


def additive_by_hand(score, q, m, j):
    w, u, v = (np.array(x) for x in (score.query_kernel, score.memory_kernel, score.v))
    return v @ np.tanh(w.T @ q + u.T @ m)


def general_by_hand(score, q, m, j):
    return q @ (np.array(score.kernel).T @ m)


def dot_by_hand(score, q, m, j):
    return sum(a * b for a, b in zip(q, m))


def scaled_dot_by_hand(score, q, m, j):
    u, w = np.array(score.query_kernel), np.array(score.memory_kernel)
    return (w.T @ m) @ (u.T @ q) / np.sqrt(7)


def cosine_by_hand(score, q, m, j):
    return q @ m / np.sqrt((q @ q) * (m @ m))


def location_by_hand(score, q, m, j):
    return q @ np.array(score.kernel)[:, j]


BY_HAND = {
    "additive": additive_by_hand,
    "cosine": cosine_by_hand,
    "dot": dot_by_hand,
    "general": general_by_hand,
    "location": location_by_hand,
    "scaled_dot": scaled_dot_by_hand,
}


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_paper_s_formula(name):
    score = make_score(name, 7)
    memory = memory_for(name)
    scores = np.array(score(QUERY, memory))
    assert scores.shape == (2, 3, 5)
    for b, i, j in np.ndindex(scores.shape):
        expected = BY_HAND[name](score, QUERY[b, i], memory[b, j], j)
        np.testing.assert_allclose(scores[b, i, j], expected, atol=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_keys_made_beforehand_change_nothing(name):
    score = make_score(name, 7)
    memory = memory_for(name)
    scores = score(QUERY, memory)
    again = score(QUERY, memory, keys=score.keys(keras.ops.convert_to_tensor(memory)))
    np.testing.assert_allclose(again, scores, atol=1e-6)


@pytest.mark.parametrize("name", SCORES)
def test_save_and_load(name, tmp_path):
    given = memory_for(name)
    query, memory = keras.Input((3, 4)), keras.Input((5, given.shape[-1]))
    model = keras.Model([query, memory], make_score(name, 7)(query, memory))
    model.save(tmp_path / "score.keras")
    loaded = keras.models.load_model(tmp_path / "score.keras")
    expected = model([QUERY, given])
    np.testing.assert_allclose(loaded([QUERY, given]), expected, atol=1e-6)


@pytest.mark.parametrize("name", SCORES)
def test_gradients_agree_with_differences(name, gradients, slopes):
    score = make_score(name, 7)
    score(QUERY, memory_for(name))

    def value(query, memory):
        return keras.ops.sum(score(query, memory) ** 2)

    inputs = [QUERY, memory_for(name)]
    for ours, wanted in zip(gradients(value, inputs), slopes(value, inputs)):
        np.testing.assert_allclose(ours, wanted, rtol=0.05, atol=0.1)


def test_additive_score_needs_units():
    with pytest.raises(ValueError, match="`units` must be at least 1. Received: units=0."):
        AdditiveScore(0)


def test_general_score_works_between_different_widths():
    assert GeneralScore()(QUERY, MEMORIES[6]).shape == (2, 3, 5)


@pytest.mark.parametrize("score", [DotScore(), CosineScore()])
def test_scores_without_weights_need_equal_widths(score):
    with pytest.raises(ValueError, match="equally wide.*query units 4, memory units 6"):
        score(QUERY, MEMORIES[6])


def test_a_cosine_of_nothing_is_zero_and_has_a_gradient(gradients):
    score, zeros = CosineScore(), np.zeros((1, 2, 4), "float32")
    np.testing.assert_array_equal(score(zeros, zeros), 0.0)
    (by_memory,) = gradients(lambda memory: keras.ops.sum(score(zeros, memory)), [zeros])
    assert np.isfinite(by_memory).all()


@pytest.mark.parametrize("positions", [1, 3, 5, 9])
def test_places_behind_the_last_are_never_attended_to(positions):
    scores = np.array(LocationScore(positions)(QUERY, MEMORIES[6]))
    assert scores.shape == (2, 3, 5)
    assert (scores[..., positions:] < -1e8).all()
    assert (np.abs(scores[..., :positions]) < 100).all()


GAPS = np.array([[0, 0, 1, 1, 1], [1, 0, 1, 0, 1]], bool)


@pytest.mark.parametrize("positions", [1, 2, 9])
def test_places_are_counted_over_gaps(positions):
    score = LocationScore(positions)
    _, weights = SoftAttention(score)(QUERY, MEMORIES[6], memory_mask=GAPS)
    kernel = np.array(score.kernel)
    for b, i in np.ndindex(2, 3):
        seen = np.flatnonzero(GAPS[b])[:positions]
        exponentials = np.exp(QUERY[b, i] @ kernel[:, : len(seen)])
        expected = np.zeros(5)
        expected[seen] = exponentials / exponentials.sum()
        np.testing.assert_allclose(weights[b, i], expected, atol=1e-5)


@pytest.mark.parametrize("mode", [SoftAttention, HardAttention, LocalAttention])
@pytest.mark.parametrize("mask", [None, GAPS, np.zeros((2, 5), bool)])
def test_no_weight_ever_lies_behind_the_last_place(mode, mask):
    score = LocationScore(2)
    context, weights = mode(score)(QUERY, MEMORIES[6], memory_mask=mask)
    there = np.ones((2, 5), bool) if mask is None else mask
    reached = there & (np.cumsum(there, 1) <= 2)
    weights = np.array(weights)
    np.testing.assert_array_equal(weights * ~reached[:, None], 0.0)
    np.testing.assert_allclose(weights.sum(-1), np.repeat(reached.any(1)[:, None], 3, 1), atol=1e-6)


def test_widening_the_padding_changes_no_location_score():
    attention = SoftAttention(LocationScore(4))
    context, _ = attention(QUERY, MEMORIES[6])
    # Padding before, between and behind the positions.
    places = [2, 3, 6, 7, 8]
    wide, mask = np.full((2, 11, 6), 9.0, "float32"), np.zeros((2, 11), bool)
    wide[:, places], mask[:, places] = MEMORIES[6], True
    again, _ = attention(QUERY, wide, memory_mask=mask)
    np.testing.assert_allclose(again, context, atol=1e-6)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(name, policy):
    memory = memory_for(name)
    full = make_score(name, 7)
    expected = np.array(full(QUERY, memory))
    half = type(full).from_config({**full.get_config(), "dtype": policy})
    half.build(QUERY.shape, memory.shape)
    half.set_weights(full.get_weights())
    scores = half(QUERY, memory)
    assert keras.backend.standardize_dtype(scores.dtype) == policy.removeprefix("mixed_")
    np.testing.assert_allclose(keras.ops.cast(scores, "float32"), expected, atol=0.15)


def test_an_unknown_score_names_those_there_are():
    with pytest.raises(ValueError, match=r"additive.*general.*Received: score='aditive'"):
        make_score("aditive", 7)
