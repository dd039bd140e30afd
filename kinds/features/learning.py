"""The width of vectors, and the mean and deviation of all their numbers.

One mean for all places, unlike `numbers`: features such as PCA's differ in how much they say, and
that shows in their deviations.
"""

import json
import math
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

import numpy as np

from pairloom.kinds.features.packing import unpack

__all__ = ["count", "learn"]


def count(values: Iterable[bytes], table: MutableMapping[str, float]) -> None:
    """Adds up stored vectors: their widths, and how many numbers there are with which sums."""
    for packed in values:
        vectors = unpack(packed).astype(np.float64)
        table[f"width {vectors.shape[1]}"] += 1
        table["count"] += vectors.size
        table["sum"] += float(vectors.sum())
        table["square"] += float(np.square(vectors).sum())


def learn(counts: Mapping[str, float], settings: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Width, mean and deviation as JSON.

    Raises:
        ValueError: The vectors are not equally wide.
    """
    del settings
    widths = sorted(int(key.split()[1]) for key in counts if key.startswith("width "))
    if len(widths) != 1:
        raise ValueError(
            f"Features must have one width. Received: widths {widths}. State `width` in the "
            "field's settings, and rows of another width are rejected."
        )
    mean = counts["sum"] / counts["count"]
    # The mean of the squares less the square of the mean, which rounding may take below 0.
    deviation = math.sqrt(max(counts["square"] / counts["count"] - mean**2, 0.0))
    learned = {"width": widths[0], "mean": mean, "deviation": deviation}
    return json.dumps(learned).encode(), learned
