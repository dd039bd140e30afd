"""ROUGE, Lin (2004): F1 of overlapping words, pairs of words, and the longest common subsequence.

Computed as Google's `rouge_score` does without stemming, but words of all scripts count. The score
of a corpus is the mean over its answers; of several references the one with the best F1 counts, for
each answer anew, as in SciTLDR (Cachola et al., 2020).
"""

import abc
import unicodedata
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from pairloom.components.metrics.common_subsequence import common_subsequence
from pairloom.components.metrics.ngrams import ngrams
from pairloom.components.metrics.summable import VectorMetric, percent


class _Rouge(VectorMetric):
    """Counts: sum of F1 (0 to 1), answers."""

    higher_is_better = True
    dtype = np.float64

    def _counts(self, answer: str, references: Sequence[str]) -> np.ndarray:
        words = rouge_words(answer)
        best = max(self._f1(words, rouge_words(reference)) for reference in references)
        return np.array([best, 1.0], self.dtype)

    @abc.abstractmethod
    def _f1(self, answer: list[str], reference: list[str]) -> float:
        """F1 of an answer against one reference."""

    def score(self, total: np.ndarray) -> float:
        """The mean F1 in percent."""
        f1, answers = total.tolist()
        return percent(f1, answers)


class Rouge1(_Rouge):
    """ROUGE-1: single words."""

    id = "rouge_1"
    order: ClassVar[int] = 1

    def _f1(self, answer: list[str], reference: list[str]) -> float:
        ours, theirs = ngrams(answer, self.order), ngrams(reference, self.order)
        return _f1((ours & theirs).total(), ours.total(), theirs.total())


class Rouge2(Rouge1):
    """ROUGE-2: pairs of neighbouring words."""

    id = "rouge_2"
    order = 2


class RougeL(_Rouge):
    """ROUGE-L: the longest common subsequence of the whole texts."""

    id = "rouge_l"

    def _f1(self, answer: list[str], reference: list[str]) -> float:
        return _f1(common_subsequence(answer, reference), len(answer), len(reference))


def rouge_words(text: str) -> list[str]:
    """The lower-cased words of a text: letters, digits and the marks that belong to letters.

    >>> rouge_words("The cat's 3-legged; हाथी!")
    ['the', 'cat', 's', '3', 'legged', 'हाथी']
    """
    # Not `\\w`: it breaks words at the vowel signs of Indic scripts.
    lower = text.lower()
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in lower).split()


def _f1(common: int, ours: int, theirs: int) -> float:
    # 2PR / (P + R) with P = common / ours, R = common / theirs.
    return 2.0 * common / (ours + theirs) if common else 0.0
