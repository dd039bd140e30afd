"""The kind `features`: vectors made elsewhere, one behind the other, as of a clip's frames.

A row holds a path: of a `.npy` file, of a `.npz` file with one array, or of one in a `.npz` file of
several, `clips.npz#17`. An array is `(time, width)`; one of `(width,)` counts as a time of 1.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairloom.kinds.features.arrays import Arrays, checked_vectors, open_arrays
from pairloom.kinds.features.packing import pack
from pairloom.kinds.files import FileContent, FileOptions, find_part
from pairloom.kinds.kind import FieldError, Kind

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Features", "FeaturesOptions", "Vectors"]

_KEPT_NUMBERS = 4


@dataclass(frozen=True)
class FeaturesOptions(FileOptions):
    """A field of vectors over time.

    Every vector has `width` numbers, and others are rejected; 0: as many as in the first good row
    of the train split. Values of more than `at_most` vectors are rejected. Where an npz file holds
    all values as one array, `array` is its name, and `names` that of the array which says what the
    values are called: `clips.npz#17` is then the row of `array` whose entry in `names` is `17`.
    `standardize` subtracts the mean of all numbers in the train split and divides by their
    deviation. Array files are opened as a whole, unpacked no larger than `most_bytes`.
    """

    most_bytes: int = field(default=2**30, metadata={"at_least": 1})
    width: int = field(default=0, metadata={"at_least": 0})
    at_most: int = field(default=1024, metadata={"at_least": 1})
    array: str = ""
    names: str = ""
    standardize: bool = False


class Vectors(NamedTuple):
    """One value: what its row says, and `(time, width)` of float32."""

    path: str
    values: np.ndarray


class Features(Kind):
    """Sequences of finite vectors."""

    name = "features"
    form = "vectors"
    is_file = True
    has_parts = True
    Options = FeaturesOptions

    def opened(self, content: bytes, options: Mapping[str, Any]) -> Arrays:
        named = (options["array"], options["names"])
        return open_arrays(content, options["most_bytes"], *named)

    def read(self, raw: FileContent, options: dict[str, Any], max_length: int) -> Vectors:
        values = checked_vectors(raw.content.find(raw.part))
        if len(values) > options["at_most"]:
            raise FieldError(f"holds {len(values):,} vectors, more than {options['at_most']:,}")
        width = options["width"]
        if width and values.shape[1] != width:
            like = " as the first good row of train does" if options.get("settled") else ""
            raise FieldError(
                f"must hold vectors of {width} numbers{like}, received {values.shape[1]}"
            )
        return Vectors(raw.path, values)

    def settled(self, value: Vectors, options: dict[str, Any]) -> dict[str, Any]:
        return {} if options["width"] else {"width": value.values.shape[1], "settled": True}

    def key(self, value: Vectors) -> bytes:
        return hashlib.blake2b(pack(value.values), digest_size=16).digest()

    def show(self, value: Vectors) -> str:
        return value.path

    def store(self, value: Vectors, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(pack(value.values))

    def is_one(self, value: Any) -> bool:
        if isinstance(value, (str, bytes, os.PathLike)):
            return True
        if not isinstance(value, np.ndarray):
            value = value[0] if len(value) else value
            return not isinstance(value, (str, os.PathLike)) and np.ndim(value) == 1
        return value.ndim == 2

    def serve(self, value: Any) -> np.ndarray:
        if isinstance(value, (str, os.PathLike)):
            return self._read_here(os.fspath(value))
        try:
            return checked_vectors(np.asarray(value))
        except ValueError as error:
            raise FieldError(str(error)) from None

    def _read_here(self, path: str) -> np.ndarray:
        """The vectors in a file of the one who asks."""
        file, part = find_part(path, "{}", has_parts=True)
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            raise FieldError(f"cannot be read, `{file}`: {error.strerror}") from None
        return checked_vectors(open_arrays(content, FeaturesOptions().most_bytes).find(part))

    def answer(self, served: Any) -> list[list[float]]:
        there = np.asarray(served)
        return there[~np.isnan(there).all(-1)].tolist()

    def kept(self, served: Any) -> list[list[float]]:
        # A report draws the weights alone, and needs no more than to tell values apart.
        return [[round(number, 2) for number in self.answer(served)[0][:_KEPT_NUMBERS]]]


KIND = Features()
