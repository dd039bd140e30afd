"""Vectors as one string of bytes: their width, then all numbers, each in four bytes.

So that shards and statistics have one value a row, and pairs that share one are seen to do so.
"""

import struct

import numpy as np

__all__ = ["HEADER", "NUMBER", "pack", "unpack"]

HEADER = 4
"""Bytes of the width."""
NUMBER = 4
"""Bytes of a number."""


def pack(values: np.ndarray) -> bytes:
    """`(time, width)` of float32 as bytes."""
    return struct.pack("<i", values.shape[1]) + values.astype("<f4").tobytes()


def unpack(packed: bytes) -> np.ndarray:
    """The way back."""
    [width] = struct.unpack_from("<i", packed)
    return np.frombuffer(packed, "<f4", offset=HEADER).reshape(-1, width)
