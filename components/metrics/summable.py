"""What every corpus metric is: counts that add up, and one score from their sum."""

import abc
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pairloom.components.metrics.registry import metric_takes


class SummableMetric(abc.ABC):
    """A corpus score that is computed from counts added up over examples.

    Scores do not add up, counts do. So a corpus may be split over any number of workers, and cut
    into any slices, and every sum gives exactly the score of the examples that are in it:

        score(add(counts(a1, r1), counts(a2, r2))) == score of the corpus {(a1, r1), (a2, r2)}

    Attributes:
        id: The name that recipes use.
        higher_is_better: False for error rates.
    """

    id: ClassVar[str]
    higher_is_better: ClassVar[bool]

    @property
    def takes(self) -> str:
        """What answers it scores: `text`, `label`, `numbers` or `likelihood`."""
        return metric_takes(self.id)

    def counts(self, answer: Any, references: Sequence[Any]) -> Any:
        """Counts one answer.

        Args:
            answer: A string (`text`, `label`), an array (`numbers`), or a `Likelihood`.
            references: The right answers to the same input, at least one.
        """
        if isinstance(references, (str, bytes)) or not len(references):
            raise ValueError(
                "`references` must be a sequence of at least one right answer. "
                f"Received: references={references!r}."
            )
        return self._counts(answer, references)

    @abc.abstractmethod
    def _counts(self, answer: Any, references: Sequence[Any]) -> Any:
        """Counts one answer against references, of which there is at least one."""

    @abc.abstractmethod
    def zero(self) -> Any:
        """The counts of no examples: what a sum starts from."""

    @abc.abstractmethod
    def add(self, total: Any, counts: Any) -> Any:
        """Returns the sum. It may be `total`, changed in place; `counts` stays as it is."""

    @abc.abstractmethod
    def score(self, total: Any) -> float:
        """Turns summed counts into the score; nothing counted gives 0."""

    def signature(self, references: int = 1) -> str:
        """States exactly how the score was computed, for tables that others must reproduce.

        Args:
            references: How many there are for each input; -1 where their number varies.
        """
        del references
        return self.id


class VectorMetric(SummableMetric):
    """A metric whose counts are a vector.

    Attributes:
        size: Its length.
        dtype: int64 where only whole numbers are counted, float64 elsewhere.
    """

    size: ClassVar[int] = 2
    dtype: ClassVar[type] = np.int64

    def zero(self) -> np.ndarray:
        """Zeros `(size,)`."""
        return np.zeros(self.size, self.dtype)

    def add(self, total: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The sum of two vectors."""
        return total + counts


class TableMetric(SummableMetric):
    """A metric that needs to know what occurred in the whole corpus: how often each thing did."""

    def zero(self) -> Counter[tuple[str, ...]]:
        """An empty table."""
        return Counter()

    def add(
        self, total: Counter[tuple[str, ...]], counts: Counter[tuple[str, ...]]
    ) -> Counter[tuple[str, ...]]:
        """`total`, with `counts` counted into it."""
        # In place: a table grows with the corpus, and is added to once an example.
        total.update(counts)
        return total


def percent(part: float, whole: float) -> float:
    """`part` of `whole` in percent; of nothing, 100 if there is a part and 0 if there is none.

    That is also what sacreBLEU's TER gives for empty references.
    """
    if whole:
        return 100.0 * part / whole
    return 100.0 if part else 0.0
