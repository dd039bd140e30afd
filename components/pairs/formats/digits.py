"""The handwritten digits that scikit-learn carries: 1,797 pictures of 8 by 8 pixels."""

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.generated import Generated
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Digits"]

BRIGHTEST = 16.0


class Digits(Generated):
    """The first field holds 64 pixels between 0 and 1, row by row; a second one the digit."""

    name = "digits"
    held = ("the pixels", "the digit")
    least = 1
    options: Mapping[str, Option] = {}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        _pictures()  # What is not installed is said before any work begins.
        return super().groups(source, named, settings)

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        del files, settings
        return len(_pictures())

    def make(self, number: int, random: Random, options: Mapping[str, Any]) -> tuple[Any, ...]:
        del random, options
        return _pictures()[number - 1]


@cache
def _pictures() -> list[tuple[list[float], str]]:
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError:
        raise DataError(
            "The format `digits` reads the pictures of scikit-learn, which is not installed: "
            "pip install scikit-learn."
        ) from None
    found = load_digits()
    pixels = (found.data / BRIGHTEST).tolist()
    return [(row, str(int(one))) for row, one in zip(pixels, found.target, strict=True)]
