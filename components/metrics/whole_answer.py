"""The share of answers that are right, or wrong, as a whole."""

import numpy as np

from pairloom.components.metrics.summable import SummableMetric, percent


class ExactMatch(SummableMetric):
    """Counts: right answers, answers. Right is the same tokens, however they are spaced."""

    id = "exact_match"
    higher_is_better = True
    size = 2

    def counts(self, hypothesis: str, reference: str) -> np.ndarray:
        """1 or 0 for right or wrong, and 1."""
        return np.array([hypothesis.split() == reference.split(), 1], np.int64)

    def score(self, counts: np.ndarray) -> float:
        """Right answers in a hundred."""
        right, answers = counts.tolist()
        return percent(right, answers)


class SequenceErrorRate(SummableMetric):
    """Counts: wrong answers, answers; of words and their pronunciations, the word error rate."""

    id = "sequence_error_rate"
    higher_is_better = False
    size = 2

    def counts(self, hypothesis: str, reference: str) -> np.ndarray:
        """1 or 0 for wrong or right, and 1."""
        return np.array([hypothesis.split() != reference.split(), 1], np.int64)

    def score(self, counts: np.ndarray) -> float:
        """Wrong answers in a hundred."""
        wrong, answers = counts.tolist()
        return percent(wrong, answers)
