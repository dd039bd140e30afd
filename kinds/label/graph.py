"""Labels in the graph: a name to its number, and back."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, DenseColumn, Part
from pairloom.kinds.graph import FieldGraph

__all__ = ["UNKNOWN", "Graph"]

UNKNOWN = -1
"""The number of a label that the train split does not have: no loss and no share in a batch."""


class Graph(FieldGraph):
    """One name a row, as `(batch,)` of numbers, counted from 0."""

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name, options, learned)
        # Behind a function: TensorFlow would wrap a list to track what is in it.
        self._labels = lambda: json.loads(learned)

    @property
    def labels(self) -> list[str]:
        """Every label, in the order of their numbers."""
        labels: list[str] = self._labels()
        return labels

    @property
    def size(self) -> int:
        return len(self.labels)

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None], tf.string, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        return {"": tf.cast(self.tensor(values), tf.int64)}

    def column(self, parts: Sequence[Part]) -> Column:
        return DenseColumn(np.concatenate([part[""] for part in parts]).astype(np.int32))

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        # Compared with each name and not looked up: a table would be a resource that Transform,
        # the export and a server each track in a way of their own.
        same = tf.equal(tf.strings.strip(values)[:, None], tf.constant(self.labels))
        found = tf.argmax(tf.cast(same, tf.int32), axis=1, output_type=tf.int32)
        return tf.where(tf.reduce_any(same, axis=1), found, UNKNOWN)

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None], tf.int32)

    def description(self) -> dict[str, Any]:
        return {"labels": self.labels}

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        # Numbers of any shape. An unknown label has none of the names.
        names = tf.gather(tf.constant(self.labels), tf.maximum(tensor, 0))
        return tf.where(tf.equal(tensor, UNKNOWN), "", names)
