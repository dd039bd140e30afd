"""Images in the graph: encoded bytes to pixels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, Part, SharedColumn
from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.image.augmenting import augmented
from pairloom.kinds.image.column import PngColumn
from pairloom.kinds.image.decoding import decoded

__all__ = ["Graph"]


class Graph(FieldGraph):
    """One encoded image a row, as `(batch, height, width, 3)` of uint8.

    Transform decodes, turns and resizes, and stores what comes out as PNG, which loses nothing.
    """

    shared = True

    @property
    def size(self) -> int:
        return 3

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None], tf.string, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        # Several rows about one image mostly stand together.
        some, which = tf.unique(values)
        return {"": tf.gather(self.values(self.tensor(some)), which)}

    def column(self, parts: Sequence[Part]) -> Column:
        return SharedColumn.of(np.concatenate([part[""] for part in parts]), PngColumn)

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        height, width = self.options["height"], self.options["width"]
        return tf.map_fn(
            lambda content: decoded(content, height, width, self.options["most_pixels"]),
            values,
            fn_output_signature=tf.TensorSpec([height, width, 3], tf.uint8),
        )

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, self.options["height"], self.options["width"], 3], tf.uint8)

    def corrupted(self, tensor: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
        if seed is None:
            return tensor
        flip, crop, color = (self.options[name] for name in ("flip", "crop", "color"))
        return augmented(tensor, seed, flip=flip, crop=crop, color=color)

    def description(self) -> dict[str, Any]:
        told = ("height", "width", "most_bytes", "most_pixels")
        return {name: self.options[name] for name in told}

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(tf.io.encode_png, tensor, fn_output_signature=tf.TensorSpec([], tf.string))
