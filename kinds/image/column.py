"""Images in memory: as the PNGs that Transform stored, decoded batch by batch."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

__all__ = ["PngColumn"]


@dataclass(frozen=True)
class PngColumn:
    """Images of one shape: `encoded (rows,)`, of bytes."""

    encoded: np.ndarray

    def __len__(self) -> int:
        return len(self.encoded)

    def extents(self) -> np.ndarray:
        return np.ones((len(self.encoded), 1), np.int64)

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        del least
        return np.stack([tf.io.decode_png(png, channels=3).numpy() for png in self.encoded[rows]])
