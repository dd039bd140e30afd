"""Metrics of numbers and of probabilities."""

import functools
import math

import numpy as np
import pytest

from pairloom.components.metrics import corpus_score, get_metric
from pairloom.components.metrics.likelihood import Likelihood

RANDOM = np.random.default_rng(5)
LIKELIHOODS = [Likelihood(-3.0, 4.0, 2.0), Likelihood(-0.25, 1.0, 1.0), Likelihood(-7.5, 3.0, 0.0)]
TEXTS = ["abcdef", "ä", "水 x"]


def test_mse_is_the_mean_over_all_numbers():
    answers, references = RANDOM.normal(size=(2, 7, 5)).astype(np.float32)
    expected = np.mean((answers.astype(np.float64) - references.astype(np.float64)) ** 2)
    assert corpus_score("mse", list(answers), list(references)) == pytest.approx(expected)


def test_mse_weighs_numbers_not_vectors():
    assert corpus_score("mse", [np.zeros(3), np.zeros(1)], [np.ones(3), np.zeros(1)]) == 3 / 4


def test_the_nearest_vector_counts():
    assert corpus_score("mse", [np.zeros(2)], [[np.ones(2), np.array([0.0, 2.0])]]) == 1
    assert get_metric("mse").counts(np.zeros(2), np.array([[9, 9], [1, 0]])).tolist() == [1, 2]


def test_vectors_of_unequal_length_are_an_error():
    with pytest.raises(ValueError, match=r"as many numbers .*Received: shapes \(2,\) and \(3,\)"):
        get_metric("mse").counts(np.zeros(2), [np.zeros(3)])


def test_a_number_that_is_none_is_no_score():
    assert math.isnan(corpus_score("mse", [np.array([np.nan])], [np.zeros(1)]))


def test_perplexity_is_the_inverse_geometric_mean_of_the_probabilities():
    assert corpus_score("perplexity", LIKELIHOODS, TEXTS) == pytest.approx(math.exp(10.75 / 8))
    uniform = [Likelihood(5 * math.log(1 / 50), 5.0, 0.0)]
    assert corpus_score("perplexity", uniform, ["x"]) == pytest.approx(50)


def test_bits_per_character_is_the_code_length_over_the_characters():
    bits = -sum(one.log_probability for one in LIKELIHOODS) / math.log(2)
    assert corpus_score("bits_per_character", LIKELIHOODS, TEXTS) == pytest.approx(bits / 10)
    assert corpus_score("bits_per_character", LIKELIHOODS[:1], [""]) == 0


def test_next_token_accuracy_is_the_share_of_likeliest_tokens():
    assert corpus_score("next_token_accuracy", LIKELIHOODS, TEXTS) == 100 * 3 / 8


@pytest.mark.parametrize("log_probability", [-1e6, -math.inf])
def test_an_impossible_text_has_infinite_perplexity(log_probability):
    answers = [Likelihood(log_probability, 1.0, 0.0)]
    assert corpus_score("perplexity", answers, ["a"]) == math.inf


@pytest.mark.parametrize("metric_id", ["perplexity", "bits_per_character", "next_token_accuracy"])
def test_a_model_without_probabilities_has_no_score(metric_id):
    assert math.isnan(corpus_score(metric_id, [Likelihood(math.nan, math.nan, math.nan)], ["a"]))


@pytest.mark.parametrize("metric_id", ["perplexity", "bits_per_character", "next_token_accuracy"])
def test_a_score_does_not_depend_on_how_examples_are_split(metric_id):
    metric = get_metric(metric_id)
    parts = [metric.counts(answer, [text]) for answer, text in zip(LIKELIHOODS, TEXTS)]
    left = functools.reduce(metric.add, parts)
    right = metric.add(parts[2], metric.add(parts[1], parts[0]))
    assert metric.score(left) == metric.score(right) == corpus_score(metric_id, LIKELIHOODS, TEXTS)
