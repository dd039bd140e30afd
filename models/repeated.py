"""Rows of a batch that are equal, held and encoded once."""

from typing import Any, NamedTuple

import keras
from keras import ops

__all__ = ["Repeated", "repeat"]


class Repeated(NamedTuple):
    """A batch whose row `i` is `values[rows[i]]`.

    Attributes:
        values: `(distinct, ...)`.
        rows: `(batch,)` of integers.
    """

    values: Any
    rows: Any


def repeat(parts: Any, rows: Any) -> Any:
    """Every tensor of `parts`, batch first, as the batch that `rows` says."""
    return keras.tree.map_structure(lambda part: ops.take(part, rows, axis=0), parts)
