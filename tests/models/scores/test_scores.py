import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.models import AdditiveScore, GeneralScore
from pairloom.models.scores import SCORES, make_score

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(2, 3, 4)).astype("float32")
MEMORY = RANDOM.normal(size=(2, 5, 6)).astype("float32")


def additive_by_hand(score, q, m):
    w, u, v = (np.array(x) for x in (score.query_kernel, score.memory_kernel, score.v))
    return v @ np.tanh(w.T @ q + u.T @ m)


def general_by_hand(score, q, m):
    return q @ (np.array(score.kernel).T @ m)


BY_HAND = {"additive": additive_by_hand, "general": general_by_hand}


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_paper_s_formula(name):
    score = make_score(name, 7)
    scores = np.array(score(QUERY, MEMORY))
    assert scores.shape == (2, 3, 5)
    for b, i, j in np.ndindex(scores.shape):
        expected = BY_HAND[name](score, QUERY[b, i], MEMORY[b, j])
        np.testing.assert_allclose(scores[b, i, j], expected, atol=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_keys_made_beforehand_change_nothing(name):
    score = make_score(name, 7)
    scores = score(QUERY, MEMORY)
    again = score(QUERY, MEMORY, keys=score.keys(tf.constant(MEMORY)))
    np.testing.assert_allclose(again, scores, atol=1e-6)


@pytest.mark.parametrize("name", SCORES)
def test_save_and_load(name, tmp_path):
    query, memory = keras.Input((3, 4)), keras.Input((5, 6))
    model = keras.Model([query, memory], make_score(name, 7)(query, memory))
    model.save(tmp_path / "score.keras")
    loaded = keras.models.load_model(tmp_path / "score.keras")
    expected = model([QUERY, MEMORY])
    np.testing.assert_allclose(loaded([QUERY, MEMORY]), expected, atol=1e-6)


@pytest.mark.parametrize("name", SCORES)
def test_gradients_agree_with_differences(name):
    score = make_score(name, 7)
    score(QUERY, MEMORY)

    def value(query, memory):
        return tf.reduce_sum(score(query, memory) ** 2)

    inputs = [tf.constant(QUERY), tf.constant(MEMORY)]
    theory, numeric = tf.test.compute_gradient(value, inputs, delta=1e-2)
    for ours, wanted in zip(theory, numeric):
        np.testing.assert_allclose(ours, wanted, rtol=0.05, atol=0.1)


def test_additive_score_needs_units():
    with pytest.raises(ValueError, match="`units` must be at least 1. Received: units=0."):
        AdditiveScore(0)


def test_general_score_works_between_different_widths():
    assert GeneralScore()(QUERY, MEMORY).shape == (2, 3, 5)


def test_an_unknown_score_names_those_there_are():
    with pytest.raises(ValueError, match=r"additive.*general.*Received: score='aditive'"):
        make_score("aditive", 7)
