"""The share of answers that are right, or wrong, as a whole."""

from collections.abc import Sequence

import numpy as np

from pairloom.components.metrics.summable import VectorMetric, percent


class ExactMatch(VectorMetric):
    """Counts: right answers, answers.

    Right is the same tokens as in one of the references, however they are spaced.
    """

    id = "exact_match"
    higher_is_better = True

    def _counts(self, answer: str, references: Sequence[str]) -> np.ndarray:
        return np.array([_is_right(answer, references), 1], np.int64)

    def score(self, total: np.ndarray) -> float:
        """Right answers in a hundred."""
        right, answers = total.tolist()
        return percent(right, answers)


class Accuracy(ExactMatch):
    """The exact match of labels."""

    id = "accuracy"


class SequenceErrorRate(VectorMetric):
    """Counts: wrong answers, answers; of words and their pronunciations, the word error rate."""

    id = "sequence_error_rate"
    higher_is_better = False

    def _counts(self, answer: str, references: Sequence[str]) -> np.ndarray:
        return np.array([not _is_right(answer, references), 1], np.int64)

    def score(self, total: np.ndarray) -> float:
        """Wrong answers in a hundred."""
        wrong, answers = total.tolist()
        return percent(wrong, answers)


def _is_right(answer: str, references: Sequence[str]) -> bool:
    tokens = answer.split()
    return any(tokens == reference.split() for reference in references)
