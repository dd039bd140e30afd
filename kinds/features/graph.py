"""Vectors over time in the graph."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, Part, SharedColumn
from pairloom.kinds.features.column import VectorsColumn
from pairloom.kinds.features.packing import HEADER, NUMBER
from pairloom.kinds.graph import FieldGraph

__all__ = ["Graph"]

_SMALLEST = 1e-6
"""A deviation below this is that of numbers that never change."""


class Graph(FieldGraph):
    """Vectors a row, as `(batch, time, width)`, NaN where there is none.

    Stored they are packed (packing.py), served they are numbers, padded with NaN.
    """

    shared = True
    named = True

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name, options, learned)
        known = json.loads(learned)
        self._width = int(known["width"])
        self._mean, self._deviation = 0.0, 1.0
        if options.get("standardize"):
            self._mean = known["mean"]
            self._deviation = known["deviation"] if known["deviation"] >= _SMALLEST else 1.0

    @property
    def size(self) -> int:
        return self._width

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, None, self.size], tf.float32, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        return {"": values}

    def column(self, parts: Sequence[Part]) -> Column:
        packed = np.concatenate([part[""] for part in parts])
        return SharedColumn.of(packed, lambda some: VectorsColumn(some, self.size, self._scaled))

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        return self._scaled(self._unpacked(values) if values.dtype == tf.string else values)

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, None, self.size], tf.float32)

    def places(self, tensor: tf.Tensor) -> tf.Tensor:
        numbers = tf.strings.as_string(tf.range(tf.shape(tensor)[1]))
        return tf.where(_is_there(tensor), numbers[None], "")

    def present(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any(_is_there(self.tensor(values)), 1)

    def description(self) -> dict[str, Any]:
        return {"width": self.size}

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        return tf.cast(tensor, tf.float32) * self._deviation + self._mean

    def _scaled(self, values: Any) -> Any:
        return (values - np.float32(self._mean)) / np.float32(self._deviation)

    def _unpacked(self, packed: tf.Tensor) -> tf.Tensor:
        vector = NUMBER * self.size
        sizes = tf.maximum(tf.strings.length(packed) - HEADER, 0)
        # At least one vector: there must be something to be told that nothing is there.
        most = tf.maximum(tf.reduce_max(sizes, 0), vector)
        content = tf.strings.substr(packed, tf.fill(tf.shape(packed), HEADER), sizes)
        flat = tf.io.decode_raw(content, tf.float32, fixed_length=most)
        padded = tf.reshape(flat, [tf.shape(packed)[0], most // vector, self.size])
        there = tf.sequence_mask(sizes // vector, most // vector)
        return tf.where(there[..., None], padded, np.nan)


def _is_there(tensor: tf.Tensor) -> tf.Tensor:
    return tf.logical_not(tf.math.is_nan(tensor[..., 0]))
