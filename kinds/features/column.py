"""Vectors over time in memory: packed, and padded batch by batch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pairloom.kinds.features.packing import HEADER, NUMBER, unpack

__all__ = ["VectorsColumn"]


@dataclass(frozen=True)
class VectorsColumn:
    """Rows of vectors: `packed (rows,)`, of bytes; padded with NaN.

    Attributes:
        packed: As Transform stored them.
        width: Of every vector.
        scale: What is made of their numbers.
    """

    packed: np.ndarray
    width: int
    scale: Callable[[np.ndarray], np.ndarray]

    def __len__(self) -> int:
        return len(self.packed)

    def extents(self) -> np.ndarray:
        times = [(len(one) - HEADER) // (NUMBER * self.width) for one in self.packed]
        return np.array(times, np.int64)[:, None]

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        found = [self.scale(unpack(packed)) for packed in self.packed[rows]]
        time = max(least, 1, *map(len, found))
        padded = np.full((len(rows), time, self.width), np.nan, np.float32)
        for row, vectors in zip(padded, found):
            row[: len(vectors)] = vectors
        return padded
