"""Whether values look like vectors, and what suits them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pairloom.kinds.kind import FieldError
from pairloom.kinds.looking import Advice, Size
from pairloom.kinds.numbers import KIND

__all__ = ["fits", "suggest"]

_ANY_LENGTH = 1 << 30
# One number alone is rather a label, or the name of something.
_LEAST = 2


def fits(values: Sequence[Any], written: str = "") -> tuple[float, str]:
    """Lists of numbers are, and strings of numbers, if they have one width."""
    del written
    widths = Counter(map(_width, values))
    width, times = widths.most_common(1)[0]
    # A few bad rows are rejected by a run, and no reason to think that it is something else.
    if times < 0.95 * len(values) or width < _LEAST:
        wide = sorted(w for w in widths if w >= _LEAST)
        if wide and sum(widths[w] for w in wide) >= 0.95 * len(values):
            return 0.0, f"lists of {wide[0]} to {wide[-1]} numbers, not all equally long"
        return 0.0, "not lists of numbers"
    return 0.9, f"{width} numbers in each row"


def suggest(values: Sequence[Any], size: Size, source: str | None = None) -> Advice:
    """Settings for vectors that are read, written, or, where both, squeezed through a code."""
    width = Counter(map(_width, values)).most_common(1)[0][0]
    hidden = max(8, min(size.units, 2 * width))
    code = hidden if source is None else max(2, width // 4)
    return Advice(
        described=f"{width} numbers",
        options={"width": width, "standardize": True},
        encoder={
            "type": "features",
            "units": code,
            "hidden": [hidden],
            "activation": "elu",
        },
        decoder={"type": "vector", "hidden": [hidden], "activation": "elu"},
        metrics={"mse": "mse"},
        threshold="at_most: 1",
        tolerance=0.01,
        places=1,
        longest=max(len(value) if isinstance(value, str) else 0 for value in values),
    )


def _width(value: Any) -> int:
    """How many numbers a raw value holds; 0: it is something else."""
    try:
        return len(KIND.read(value, {}, _ANY_LENGTH))
    except FieldError:
        return 0
