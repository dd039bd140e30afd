"""How varied the answers are, Li et al. (2016): distinct n-grams among all n-grams."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from pairloom.components.metrics.ngrams import ngrams
from pairloom.components.metrics.summable import TableMetric, percent


class Distinct1(TableMetric):
    """Counts: how often each token occurs in the answers. A token is what white space separates.

    The references do not matter: a model that always answers the same scores low however often it
    is right.
    """

    id = "distinct_1"
    higher_is_better = True
    order: ClassVar[int] = 1

    def _counts(self, answer: str, references: Sequence[str]) -> Counter[tuple[str, ...]]:
        del references
        return ngrams(answer.split(), self.order)

    def score(self, total: Counter[tuple[str, ...]]) -> float:
        """Distinct n-grams in a hundred n-grams."""
        return percent(len(total), total.total())


class Distinct2(Distinct1):
    """Counts: how often each pair of neighbouring tokens occurs in the answers."""

    id = "distinct_2"
    order = 2
