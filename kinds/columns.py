"""Many values of a field in memory, and batches cut out of them.

A column is made of what Transform stored, by the thousand, as flat arrays: element by element
tf.data needs longer for short pairs than training does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pairloom.models.repeated import Repeated

__all__ = ["Column", "DenseColumn", "NestedColumn", "RaggedColumn", "SharedColumn", "ragged"]

Part = Mapping[str, np.ndarray]


class Column(Protocol):
    """The values of one field, row by row."""

    def __len__(self) -> int:
        """The number of rows."""

    def extents(self) -> np.ndarray:
        """`(rows, axes)`: how far each row reaches along every axis that is padded."""

    def batch(self, rows: np.ndarray, least: int = 0) -> Any:
        """The values of `rows`, padded; the first padded axis is at least `least` long."""


def ragged(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Joins parts of (values, row lengths) to values and the places where rows start."""
    flat = np.concatenate([values for values, _ in parts])
    lengths = np.concatenate([lengths for _, lengths in parts])
    return flat, np.concatenate([[0], np.cumsum(lengths)])


@dataclass(frozen=True)
class RaggedColumn:
    """Rows of ids: row `i` is `flat[starts[i]:starts[i + 1]]`, padded with 0.

    Attributes:
        flat: The ids of all rows.
        starts: Where each row starts, and where the last one ends.
        begin: An id before each row, and
        end: one behind it; 0: none.
    """

    flat: np.ndarray
    starts: np.ndarray
    begin: int = 0
    end: int = 0

    def __len__(self) -> int:
        return len(self.starts) - 1

    def extents(self) -> np.ndarray:
        # The begin id is fed, the end id is a label: together they make a row one longer.
        return (np.diff(self.starts) + bool(self.end))[:, None]

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        before = int(bool(self.begin))
        lengths = np.diff(self.starts)[rows]
        extra = before + bool(self.end)
        time = max(least + extra if least else 0, int(lengths.max(initial=0)) + extra, 1)
        padded = np.zeros((len(rows), time), np.int32)
        columns = np.arange(time - before)
        here = columns < lengths[:, None]
        where = self.starts[rows][:, None] + columns
        padded[:, before:][here] = self.flat[where[here]]
        if self.begin:
            padded[:, 0] = self.begin
        if self.end:
            padded[np.arange(len(rows)), lengths + before] = self.end
        return padded


@dataclass(frozen=True)
class NestedColumn:
    """Rows of rows of ids: `inner` is all inner rows; row `i` has those from `starts[i]` on."""

    inner: RaggedColumn
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def extents(self) -> np.ndarray:
        lengths = np.diff(self.inner.starts)
        # A row of no inner rows has nothing to reduce, which `reduceat` does not know.
        padded = np.append(lengths, 0)
        counts = np.diff(self.starts)
        longest = np.maximum.reduceat(padded, np.minimum(self.starts[:-1], len(lengths)))
        return np.stack([counts, np.where(counts > 0, longest, 0)], 1)

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        counts = np.diff(self.starts)[rows]
        most = max(least, int(counts.max(initial=0)), 1)
        here = np.arange(most) < counts[:, None]
        where = (self.starts[rows][:, None] + np.arange(most))[here]
        inner = self.inner.batch(where)
        padded = np.zeros((len(rows), most, inner.shape[1]), np.int32)
        padded[here] = inner
        return padded


@dataclass(frozen=True)
class DenseColumn:
    """Rows of one shape, which need no padding: `values (rows, ...)`."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def extents(self) -> np.ndarray:
        return np.ones((len(self.values), 1), np.int64)

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        del least
        return self.values[rows]


@dataclass(frozen=True)
class SharedColumn:
    """Rows that share values: row `i` has `which[i]` of `values`.

    Its batches are `Repeated`: each value that they have once, and which row has which.
    """

    values: Column
    which: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, make: Callable[[np.ndarray], Column]) -> "SharedColumn":
        """A column of rows of bytes, or tuples of them; `make` makes one of the distinct ones."""
        numbers: dict[Any, int] = {}
        which = np.array([numbers.setdefault(row, len(numbers)) for row in rows], np.int64)
        return cls(make(np.fromiter(numbers, object, len(numbers))), which)

    def __len__(self) -> int:
        return len(self.which)

    def extents(self) -> np.ndarray:
        return self.values.extents()[self.which]

    def batch(self, rows: np.ndarray, least: int = 0) -> Repeated:
        distinct, where = np.unique(self.which[rows], return_inverse=True)
        return Repeated(self.values.batch(distinct, least), where.astype(np.int32))
