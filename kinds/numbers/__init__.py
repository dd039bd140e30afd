"""The kind `numbers`: a vector, equally long in every example.

Files hold a list (JSON), or numbers with spaces or commas between them: `0 0.5 1e-3`.
"""

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from pairloom.kinds.kind import FieldError, FieldOptions, Kind
from pairloom.kinds.reading import read_text

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Numbers", "NumbersOptions"]

_LARGEST = 3.4028234e38


@dataclass(frozen=True)
class NumbersOptions(FieldOptions):
    """A field of numbers.

    Every row has `width` of them, and others are rejected; 0: as many as the first good row of the
    train split. `standardize` subtracts the train split's mean and divides by its deviation before
    an encoder reads them, and undoes it in what a decoder writes. In training and evaluation what
    is read is spoiled on purpose by Gaussian `noise` of that deviation, and by `masking` that share
    of the numbers with 0.
    """

    width: int = 0
    standardize: bool = False
    noise: float = field(default=0.0, metadata={"at_least": 0})
    masking: float = field(default=0.0, metadata={"at_least": 0, "below": 1})


class Numbers(Kind):
    """Vectors of finite numbers."""

    name = "numbers"
    form = "vectors"
    written = "vectors"
    metrics = "numbers"
    shown = ("mse",)
    Options = NumbersOptions

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> tuple[float, ...]:
        if not isinstance(raw, list):
            raw = _split(read_text(raw, max_length))
        try:
            values = tuple(_number(one) for one in raw)
        except (OverflowError, TypeError, ValueError):
            raise FieldError("must hold numbers alone") from None
        if not values:
            raise FieldError("is empty")
        if not all(map(_is_finite, values)):
            raise FieldError("holds a number that is not finite")
        width = options.get("width") or 0
        if width and len(values) != width:
            like = " as the first good row of train does" if options.get("settled") else ""
            raise FieldError(f"must hold {width} numbers{like}, received {len(values)}")
        return values

    def settled(self, value: tuple[float, ...], options: dict[str, Any]) -> dict[str, Any]:
        return {} if options.get("width") else {"width": len(value), "settled": True}

    def key(self, value: tuple[float, ...]) -> bytes:
        return struct.pack(f"<{len(value)}d", *value)

    def show(self, value: tuple[float, ...]) -> str:
        shown = " ".join(f"{one:g}" for one in value[:8])
        return shown + (f" … ({len(value)} numbers)" if len(value) > 8 else "")

    def store(self, value: tuple[float, ...], feature: "tf.train.Feature") -> None:
        feature.float_list.value.extend(value)

    def is_one(self, value: Any) -> bool:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            return True
        dimensions = getattr(value, "ndim", None)
        if dimensions is not None:
            return bool(dimensions == 1)
        if not isinstance(value, Sequence):
            return False
        return bool(value) and all(isinstance(one, Real) for one in value)

    def serve(self, value: Any) -> list[float]:
        if isinstance(value, (str, bytes)):
            value = _split(value)
        try:
            numbers = [_number(one) for one in value]
        except (OverflowError, TypeError, ValueError):
            raise FieldError(f"must hold lists of numbers. Received: {value!r}") from None
        if not all(map(_is_finite, numbers)):
            raise FieldError("holds a number that is not finite")
        return numbers

    def answer(self, served: Any) -> list[float]:
        return [float(one) for one in served]


def _split(text: str | bytes) -> list[str]:
    """The numbers in a text, still as texts."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return text.replace(",", " ").split()


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _is_finite(value: float) -> bool:
    """Whether the number is one in the 32 bits that it is stored and served in, too."""
    return math.isfinite(value) and abs(value) <= _LARGEST


KIND = Numbers()
