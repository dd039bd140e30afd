"""How probable a model finds the reference: perplexity, bits per character, next-token accuracy."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pairloom.components.metrics.summable import VectorMetric, percent


class Likelihood(NamedTuple):
    """What a model gives a reference, each of whose tokens follows the right ones before it.

    Attributes:
        log_probability: Natural logarithm of the probability of all its tokens, the end included.
        tokens: How many they are, the end included.
        correct: How many of them were the likeliest where they stand.
    """

    log_probability: float
    tokens: float
    correct: float


class Perplexity(VectorMetric):
    """Counts: log probability, tokens."""

    id = "perplexity"
    higher_is_better = False
    dtype = np.float64

    def _counts(self, answer: Likelihood, references: Sequence[str]) -> np.ndarray:
        del references
        return np.array([answer.log_probability, answer.tokens], np.float64)

    def score(self, total: np.ndarray) -> float:
        """`exp(-log P / tokens)`; what no float can hold is infinite."""
        log_probability, tokens = total.tolist()
        if not tokens:
            return 0.0
        try:
            return math.exp(-log_probability / tokens)
        except OverflowError:
            return math.inf


class BitsPerCharacter(VectorMetric):
    """Counts: log probability, characters of the reference, of which the end is none."""

    id = "bits_per_character"
    higher_is_better = False
    dtype = np.float64

    def _counts(self, answer: Likelihood, references: Sequence[str]) -> np.ndarray:
        return np.array([answer.log_probability, len(references[0])], np.float64)

    def score(self, total: np.ndarray) -> float:
        """`-log2 P / characters`."""
        log_probability, characters = total.tolist()
        return -log_probability / math.log(2) / characters if characters else 0.0


class NextTokenAccuracy(VectorMetric):
    """Counts: tokens that were the likeliest, tokens."""

    id = "next_token_accuracy"
    higher_is_better = True
    dtype = np.float64

    def _counts(self, answer: Likelihood, references: Sequence[str]) -> np.ndarray:
        del references
        return np.array([answer.correct, answer.tokens], np.float64)

    def score(self, total: np.ndarray) -> float:
        """Tokens in a hundred."""
        correct, tokens = total.tolist()
        return percent(correct, tokens)
