"""The one place that touches sacreBLEU.

sacreBLEU computes every corpus score from per-sentence statistics that it adds up itself. The two
methods that give the statistics and the score have a leading underscore; they are what its own
`corpus_score` and its significance tests are made of, and a test here compares with `corpus_score`.
"""

import abc
from typing import Any

import numpy as np

from pairloom.components.metrics.summable import SummableMetric


class SacrebleuMetric(SummableMetric):
    """A metric of sacreBLEU with its default settings and one reference a sentence."""

    def __init__(self) -> None:
        self._metric = self._create()
        # sacreBLEU learns the number of references, which its signature states, from a corpus.
        self.counts("", "")

    @abc.abstractmethod
    def _create(self) -> Any:
        """Returns the object of `sacrebleu.metrics`."""

    def counts(self, hypothesis: str, reference: str) -> np.ndarray:
        """SacreBLEU's statistics of one sentence."""
        [statistics] = self._metric._extract_corpus_statistics([hypothesis], [[reference]])
        return np.asarray(statistics, np.int64)

    def score(self, counts: np.ndarray) -> float:
        """SacreBLEU's corpus score for these statistics."""
        # A list of Python ints: sacreBLEU formats some of them with `:d`.
        return float(self._metric._compute_score_from_stats(counts.tolist()).score)

    def signature(self) -> str:
        """SacreBLEU's signature: tokenizer, case, smoothing, version, …"""
        return str(self._metric.get_signature())
