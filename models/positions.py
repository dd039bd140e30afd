"""Places in a sequence as vectors."""

from typing import Any

from keras import ops


def sinusoids(length: Any, units: int, offset: Any = 0, dtype: str = "float32") -> Any:
    """`PE(p, 2i) = sin(p / 10000^(2i / units))` and `PE(p, 2i + 1) = cos(` the same `)`.

    Vaswani et al. (2017), section 3.5. Computed, not stored, so there is no longest sequence.

    Args:
        length: How many places.
        units: Width of a vector.
        offset: The first place's number.
        dtype: Type of the result; the angles are float32 always.

    Returns:
        `(length, units)`. A row's length is `sqrt(units / 2)`.
    """
    places = ops.cast(ops.arange(length) + offset, "float32")
    number = ops.arange(units)
    pair = ops.cast(number // 2, "float32")
    angles = places[:, None] * ops.power(10000.0, -2.0 * pair / units)
    return ops.cast(ops.where(number % 2 == 0, ops.sin(angles), ops.cos(angles)), dtype)
