"""Vectors in the graph."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, DenseColumn, Part
from pairloom.kinds.graph import FieldGraph

__all__ = ["Graph"]

_SMALLEST = 1e-6
"""A deviation below this is that of a number that never changes."""


class Graph(FieldGraph):
    """One vector a row, as `(batch, width)`, standardized where the recipe says so."""

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name, options, learned)
        known = json.loads(learned)
        self._mean = np.array(known["mean"], np.float32)
        deviation = np.array(known["deviation"], np.float32)
        self._deviation = np.where(deviation < _SMALLEST, 1.0, deviation).astype(np.float32)
        if not options.get("standardize"):
            self._mean, self._deviation = np.zeros_like(self._mean), np.ones_like(self._mean)

    @property
    def size(self) -> int:
        return len(self._mean)

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([self.size], tf.float32, default_value=[0.0] * self.size)

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, self.size], tf.float32, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        return {"": self.tensor(tf.reshape(values, [-1, self.size]))}

    def column(self, parts: Sequence[Part]) -> Column:
        return DenseColumn(np.concatenate([part[""] for part in parts]).astype(np.float32))

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        return (values - self._mean) / self._deviation

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, self.size], tf.float32)

    def corrupted(self, tensor: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
        noise, masking = self.options.get("noise") or 0.0, self.options.get("masking") or 0.0
        if not noise and not masking:
            return tensor
        if seed is not None:
            seeds = tf.random.experimental.stateless_split(seed, 2)
            added = tf.random.stateless_normal(tf.shape(tensor), seeds[0])
            chance = tf.random.stateless_uniform(tf.shape(tensor), seeds[1])
        else:
            # From the row's own numbers, so that a row is spoiled alike in every batch.
            rows = tf.strings.reduce_join(tf.strings.as_string(tensor), axis=1, separator=" ")
            seeds = tf.strings.to_hash_bucket_fast(rows, 2**31 - 1)
            drawn = tf.map_fn(
                lambda seed: tf.stack(
                    [
                        tf.random.stateless_normal([self.size], tf.stack([seed, 0])),
                        tf.random.stateless_uniform([self.size], tf.stack([seed, 1])),
                    ]
                ),
                seeds,
                fn_output_signature=tf.TensorSpec([2, self.size], tf.float32),
            )
            added, chance = drawn[:, 0], drawn[:, 1]
        spoiled = tensor + noise * added
        return tf.where(chance < masking, tf.zeros_like(tensor), spoiled)

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        return tf.cast(tensor, tf.float32) * self._deviation + self._mean
