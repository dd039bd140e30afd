"""How far attention is from links between words that people drew."""

import math
import re
from collections.abc import Sequence

import numpy as np

from pairloom.components.metrics.summable import VectorMetric, percent

Links = set[tuple[int, int]]

_LINK = re.compile(r"(\d+)([-?])(\d+)")


class AlignmentErrorRate(VectorMetric):
    """`1 - (|A & S| + |A & P|) / (|A| + |S|)`, Och and Ney (2003), section 4.1, in percent.

    `A` are the links of the answer, `S` the sure ones of the reference, `P` those and its possible
    ones. Counts: `|A & S| + |A & P|` and `|A| + |S|`. Of several references the first counts.

    >>> metric.score(metric.counts("0-0 1-2", ["0-0 1-1 1?2"]))
    25.0
    """

    id = "alignment_error_rate"
    higher_is_better = False
    dtype = np.float64

    def _counts(self, answer: str | None, references: Sequence[str]) -> np.ndarray:
        """`answer` is None where the model does not tell: its score is no number."""
        if answer is None:
            return np.full(self.size, math.nan)
        found = set().union(*_links(answer))
        sure, possible = _links(references[0])
        right = len(found & sure) + len(found & (sure | possible))
        return np.array([right, len(found) + len(sure)], np.float64)

    def score(self, total: np.ndarray) -> float:
        """Errors in a hundred."""
        right, counted = total.tolist()
        return percent(counted - right, counted)


def _links(text: str) -> tuple[Links, Links]:
    """The sure links and the others of a text as `0-0 1?2`."""
    sure: Links = set()
    possible: Links = set()
    for word in text.split():
        link = _LINK.fullmatch(word)
        if link is None:
            raise ValueError(f"Links must be as `0-0 1-2 2?3`. Received: {word!r}.")
        (sure if link[2] == "-" else possible).add((int(link[1]), int(link[3])))
    return sure, possible
