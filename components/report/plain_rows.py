"""A model's outputs as plain values, without padding, and no more numbers than a page can hold."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pairloom.serving.description import Description

__all__ = ["Budget", "plain_row", "plain_value"]

MOST_NUMBERS = 600_000
"""Weights and activations in one page: some four megabytes."""
DIGITS = 4


class Budget:
    """Counts the numbers that a page has room for."""

    def __init__(self, numbers: int = MOST_NUMBERS):
        self.left = numbers

    def takes(self, size: int) -> bool:
        """Whether there is room for so many more, which then are taken."""
        if size > self.left:
            return False
        self.left -= size
        return True


def plain_row(
    outputs: Mapping[str, np.ndarray], description: Description, budget: Budget
) -> tuple[dict[str, Any], bool]:
    """One row's outputs as JSON knows them.

    Args:
        outputs: Name to what the model told of the row.
        description: The model's, which says what the outputs' axes run along.
        budget: Room for tables of numbers; one that has no room is left out.

    Returns:
        The outputs, and whether they are all there.
    """
    lengths = _lengths(outputs, description)
    found, whole = {}, True
    for name, value in outputs.items():
        axes = description.axes.get(name, ())
        cut = value[tuple(slice(lengths.get(axis)) for axis in axes)] if axes else value
        is_table = isinstance(cut, np.ndarray) and cut.ndim > 1 and cut.dtype.kind == "f"
        if is_table and not budget.takes(cut.size):
            whole = False
            continue
        found[name] = plain_value(cut)
    return found, whole


def plain_value(value: Any) -> Any:
    """Bytes as text, arrays as lists, numbers to a few digits; what is not finite is None."""
    if isinstance(value, np.ndarray):
        return [plain_value(one) for one in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (float, np.floating)):
        return round(float(value), DIGITS) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _lengths(outputs: Mapping[str, np.ndarray], description: Description) -> dict[str, int]:
    """How far each axis that has names goes before nothing but padding is left."""
    lengths: dict[str, int] = {}
    for field in (*description.inputs, description.output):
        if field.tokens not in outputs:
            continue
        there = outputs[field.tokens] != b""
        for axis, name in enumerate(description.axes.get(field.tokens, ())):
            others = tuple(other for other in range(there.ndim) if other != axis)
            places = np.flatnonzero(there.any(axis=others))
            lengths[name] = int(places[-1]) + 1 if places.size else 0
    return lengths
