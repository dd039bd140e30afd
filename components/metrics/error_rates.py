"""Edits per token of the reference: the error rate of words, phonemes, characters."""

import abc
from collections.abc import Sequence

import numpy as np

from pairloom.components.metrics.edit_distance import edit_distance
from pairloom.components.metrics.summable import VectorMetric, percent


class _ErrorRate(VectorMetric):
    """Counts: edits, reference tokens. Above 100 when there are more edits than tokens.

    Of several references the one that needs the fewest edits counts, and of those the longest.
    """

    higher_is_better = False

    @abc.abstractmethod
    def _tokens(self, text: str) -> Sequence[str]:
        """What is counted in a text."""

    def _counts(self, answer: str, references: Sequence[str]) -> np.ndarray:
        ours = self._tokens(answer)
        # The longest, because then the lowest rate counts, in whatever order references come.
        edits, length = min(
            (edit_distance(ours, theirs), -len(theirs)) for theirs in map(self._tokens, references)
        )
        return np.array([edits, -length], np.int64)

    def score(self, total: np.ndarray) -> float:
        """Edits per hundred reference tokens."""
        edits, tokens = total.tolist()
        return percent(edits, tokens)


class TokenErrorRate(_ErrorRate):
    """The word error rate of words, the phoneme error rate of phonemes.

    A token is what white space separates.
    """

    id = "token_error_rate"

    def _tokens(self, text: str) -> list[str]:
        return text.split()


class CharacterErrorRate(_ErrorRate):
    """The error rate of Unicode's characters; any white space is one space, none at the ends."""

    id = "character_error_rate"

    def _tokens(self, text: str) -> str:
        return " ".join(text.split())
