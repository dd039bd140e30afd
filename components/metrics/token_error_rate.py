"""Edits per reference token: the word error rate of words, the phoneme error rate of phonemes."""

import numpy as np

from pairloom.components.metrics.edit_distance import edit_distance
from pairloom.components.metrics.summable import SummableMetric, percent


class TokenErrorRate(SummableMetric):
    """Counts: edits, reference tokens. A token is what white space separates.

    Above 100 when there are more edits than reference tokens.
    """

    id = "token_error_rate"
    higher_is_better = False
    size = 2

    def counts(self, hypothesis: str, reference: str) -> np.ndarray:
        """Edits that the answer needs, tokens of the reference."""
        tokens = reference.split()
        return np.array([edit_distance(hypothesis.split(), tokens), len(tokens)], np.int64)

    def score(self, counts: np.ndarray) -> float:
        """Edits per hundred reference tokens."""
        edits, tokens = counts.tolist()
        return percent(edits, tokens)
