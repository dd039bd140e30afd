"""Clips in memory: as the PNGs that Transform stored, decoded batch by batch."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

__all__ = ["ClipColumn"]


@dataclass(frozen=True)
class ClipColumn:
    """Clips of equally many frames, those that are missing empty.

    Attributes:
        encoded: `(rows,)`, of tuples of bytes.
        shape: Of a clip's pixels, `(frames, height, width, 3)`.
    """

    encoded: np.ndarray
    shape: tuple[int, int, int, int]

    def __len__(self) -> int:
        return len(self.encoded)

    def extents(self) -> np.ndarray:
        return np.array([[sum(map(bool, frames))] for frames in self.encoded], np.int64)

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        del least
        pixels = np.zeros((len(rows), *self.shape), np.uint8)
        for clip, row in zip(pixels, rows):
            for place, png in enumerate(self.encoded[row]):
                if png:
                    clip[place] = tf.io.decode_png(png, channels=3).numpy()
        return pixels
