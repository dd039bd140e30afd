"""What every corpus metric is: counts that add up, and one score from their sum."""

import abc
from typing import ClassVar

import numpy as np


class SummableMetric(abc.ABC):
    """A corpus score that is computed from counts added up over sentences.

    Scores do not add up, counts do. So a corpus may be split over any number of workers, and cut
    into any slices, and every sum gives exactly the score of the sentences that are in it:

        score(counts(h1, r1) + counts(h2, r2)) == score of the corpus {(h1, r1), (h2, r2)}

    Attributes:
        id: The name that recipes use.
        higher_is_better: False for error rates.
        size: Length of the vector of counts.
    """

    id: ClassVar[str]
    higher_is_better: ClassVar[bool]
    size: ClassVar[int]

    @abc.abstractmethod
    def counts(self, hypothesis: str, reference: str) -> np.ndarray:
        """Counts one answer against one reference: an int64 vector `(size,)`."""

    @abc.abstractmethod
    def score(self, counts: np.ndarray) -> float:
        """Turns summed counts `(size,)` into percent; nothing counted, all zeros, gives 0."""

    def zero(self) -> np.ndarray:
        """The counts of no sentences: what a sum starts from."""
        return np.zeros(self.size, np.int64)

    def signature(self) -> str:
        """States exactly how the score was computed, for tables that others must reproduce."""
        return self.id


def percent(part: int, whole: int) -> float:
    """`part` of `whole` in percent; of nothing, 100 if there is a part and 0 if there is none.

    That is also what sacreBLEU's TER gives for empty references.
    """
    if whole:
        return 100.0 * part / whole
    return 100.0 if part else 0.0
