"""Lists of texts in the graph: one string to the ids of each of its texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, NestedColumn, Part, RaggedColumn, ragged
from pairloom.kinds.text.subword_graph import SubwordGraph
from pairloom.kinds.texts import SENTENCE_END, TextsOptions

__all__ = ["Graph"]


class Graph(SubwordGraph):
    """One string a row, as `(batch, texts, time)` of ids."""

    parts = ("", "_lengths")
    levels = ("words",)

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name, options, learned)
        known = vars(TextsOptions())
        self._settings = TextsOptions(**{k: v for k, v in options.items() if k in known})

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        ids = self._ids(values)
        lengths = tf.cast(ids.row_lengths(axis=2), tf.int64)
        return {"": ids.merge_dims(1, 2), "_lengths": lengths}

    def column(self, parts: Sequence[Part]) -> Column:
        flat = np.concatenate([part[""] for part in parts])
        lengths, starts = ragged([(part["_lengths"], part["_lengths:lengths"]) for part in parts])
        return NestedColumn(RaggedColumn(*ragged([(flat, lengths)])), starts)

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        dense = tf.cast(self._ids(values).to_tensor(), tf.int32)
        missing = tf.maximum(1 - tf.shape(dense)[1:], 0)
        return tf.pad(dense, [[0, 0], [0, missing[0]], [0, missing[1]]])

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, None, None], tf.int32)

    def lengths(self, values: tf.Tensor) -> tf.Tensor:
        """How many texts each value has, for slices by length."""
        return self._ids(values).row_lengths()

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        batch, texts, time = tf.unstack(tf.shape(tensor))
        lines = self.subwords.text(tf.reshape(tensor, [batch * texts, time]))
        lines = tf.where(tf.equal(lines, ""), lines, lines + "\n")
        return tf.strings.reduce_join(tf.reshape(lines, [batch, texts]), axis=1)

    def _ids(self, values: tf.Tensor) -> tf.RaggedTensor:
        """`(batch, (texts), (time))`, texts without an id left out."""
        # A string without a line end is split into its sentences.
        sentences = tf.strings.regex_replace(values, SENTENCE_END, "\\1\n")
        has_lines = tf.strings.regex_full_match(values, "(?s).*\n.*")
        texts = tf.strings.split(tf.where(has_lines, values, sentences), "\n")
        ids = texts.with_flat_values(self.subwords.ids(texts.flat_values))
        ids = tf.ragged.boolean_mask(ids, ids.row_lengths(axis=2) > 0)
        most = self._settings.at_most
        ids = ids[:, -most:] if self._settings.keep == "end" else ids[:, :most]
        return ids[:, :, : self._settings.length]
