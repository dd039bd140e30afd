"""The one place that touches sacreBLEU.

sacreBLEU computes every corpus score from per-sentence statistics that it adds up itself. The two
methods that give the statistics and the score have a leading underscore; they are what its own
`corpus_score` and its significance tests are made of, and a test here compares with `corpus_score`.
"""

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from pairloom.components.metrics.summable import VectorMetric


class SacrebleuMetric(VectorMetric):
    """A metric of sacreBLEU with its default settings."""

    def __init__(self) -> None:
        self._metric = self._create()

    @abc.abstractmethod
    def _create(self) -> Any:
        """Returns the object of `sacrebleu.metrics`."""

    def _counts(self, answer: str, references: Sequence[str]) -> np.ndarray:
        """SacreBLEU's statistics of one sentence."""
        streams = [[reference] for reference in references]
        [statistics] = self._metric._extract_corpus_statistics([answer], streams)
        return np.asarray(statistics, self.dtype)

    def score(self, total: np.ndarray) -> float:
        """SacreBLEU's corpus score for these statistics."""
        # A list of Python numbers: sacreBLEU formats some of them with `:d`.
        return float(self._metric._compute_score_from_stats(total.tolist()).score)

    def signature(self, references: int = 1) -> str:
        """SacreBLEU's signature: tokenizer, case, smoothing, version, …"""
        # sacreBLEU learns this number, which its signature states, from the last corpus it saw.
        self._metric.num_refs = references
        return str(self._metric.get_signature())
