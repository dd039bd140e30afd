"""Texts in the graph: a string to subword ids."""

from collections.abc import Sequence

import tensorflow as tf

from pairloom.kinds.columns import Column, Part, RaggedColumn, ragged
from pairloom.kinds.text.subword_graph import SubwordGraph

__all__ = ["Graph", "dense_ids"]


class Graph(SubwordGraph):
    """One string a row, as `(batch, time)` of ids."""

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        ids = self.subwords.ids(values)
        return {"": ids, "_length": tf.cast(ids.row_lengths(), tf.int64)}

    def column(self, parts: Sequence[Part]) -> Column:
        return RaggedColumn(*ragged([(part[""], part[":lengths"]) for part in parts]))

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        return dense_ids(self.subwords.ids(values))

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, None], tf.int32)

    def word_numbers(self, tensor: tf.Tensor) -> tf.Tensor:
        return self.subwords.word_numbers(tensor)

    def lengths(self, values: tf.Tensor) -> tf.Tensor:
        """How long each value is, for slices by length."""
        return self.subwords.ids(values).row_lengths()

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        return self.subwords.text(tensor)


def dense_ids(ids: tf.RaggedTensor) -> tf.Tensor:
    """`(batch, time)` of int32, padded with 0 and at least one column wide."""
    dense = tf.cast(ids.to_tensor(), tf.int32)
    return tf.pad(dense, [[0, 0], [0, tf.maximum(1 - tf.shape(dense)[1], 0)]])
