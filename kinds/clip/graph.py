"""Clips in the graph: encoded frames to pixels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.clip.column import ClipColumn
from pairloom.kinds.columns import Column, Part, SharedColumn
from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.image.augmenting import augmented
from pairloom.kinds.image.decoding import decoded

__all__ = ["Graph"]

_MOST_FRAME_BYTES = 4 * 2**20


class Graph(FieldGraph):
    """Encoded frames, "" behind the last, as `(batch, frames, height, width, 3)` of uint8.

    A place without a frame is 0 throughout, which no frame is: its darkest pixels are 1. Transform
    decodes and resizes, and stores what comes out as PNGs, which lose nothing.
    """

    shared = True
    named = True

    @property
    def size(self) -> int:
        return 3

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        frames, height, width = (int(self.options[n]) for n in ("frames", "height", "width"))
        return frames, height, width, 3

    def stored_spec(self) -> tf.io.FixedLenFeature:
        frames = self._shape[0]
        return tf.io.FixedLenFeature([frames], tf.string, default_value=[""] * frames)

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, self._shape[0]], tf.string, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        # Several rows about one clip mostly stand together.
        some, which = tf.unique(tf.strings.reduce_join(values, 1))
        first = tf.math.unsorted_segment_min(tf.range(tf.size(which)), which, tf.size(some))
        made = self.values(self.tensor(tf.gather(values, first)))
        return {"": tf.gather(made, which)}

    def column(self, parts: Sequence[Part]) -> Column:
        stored = np.concatenate([part[""] for part in parts])
        rows = np.fromiter(map(tuple, stored), object, len(stored))
        return SharedColumn.of(rows, lambda some: ClipColumn(some, self._shape))

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        _, height, width, _ = shape = self._shape
        most_pixels = self.options["most_pixels"]

        def frame(content):
            return tf.cond(
                tf.equal(content, ""),
                lambda: tf.zeros([height, width, 3], tf.uint8),
                lambda: tf.maximum(decoded(content, height, width, most_pixels), 1),
            )

        flat = tf.map_fn(
            frame,
            tf.reshape(values, [-1]),
            fn_output_signature=tf.TensorSpec([height, width, 3], tf.uint8),
        )
        return tf.reshape(flat, [-1, *shape])

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, *self._shape], tf.uint8)

    def places(self, tensor: tf.Tensor) -> tf.Tensor:
        numbers = tf.strings.as_string(tf.range(tf.shape(tensor)[1]))
        return tf.where(_is_there(tensor), numbers[None], "")

    def present(self, values: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any(tf.not_equal(values, ""), 1)

    def corrupted(self, tensor: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
        if seed is None:
            return _backwards(tensor) if self.options["backwards"] else tensor
        changes = {name: self.options[name] for name in ("flip", "crop", "color")}
        if not any(changes.values()):
            return tensor
        # The same draws for all frames of a clip: they come from the seed and the place in a batch.
        changed = tf.map_fn(
            lambda frames: tf.cast(augmented(frames, seed, **changes), tf.float32),
            tf.transpose(tensor, [1, 0, 2, 3, 4]),
            fn_output_signature=tf.float32,
        )
        frames = tf.maximum(tf.transpose(changed, [1, 0, 2, 3, 4]), 1.0)
        return tf.where(_is_there(tensor)[..., None, None, None], frames, 0.0)

    def description(self) -> dict[str, Any]:
        told = ("frames", "height", "width", "most_pixels", "most_frames")
        # Whoever asks makes frames of the film: it is these that a server takes.
        return {"most_bytes": _MOST_FRAME_BYTES} | {name: self.options[name] for name in told}

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        frames, *size = self._shape

        def encode(pixels):
            there = tf.reduce_any(pixels > 0)
            return tf.cond(there, lambda: tf.io.encode_png(pixels), lambda: tf.constant(""))

        flat = tf.map_fn(
            encode,
            tf.reshape(tensor, [-1, *size]),
            fn_output_signature=tf.TensorSpec([], tf.string),
        )
        return tf.reshape(flat, [-1, frames])


def _is_there(tensor: tf.Tensor) -> tf.Tensor:
    """`(batch, frames)`: where there is a frame."""
    return tf.reduce_any(tf.not_equal(tensor, 0), [2, 3, 4])


def _backwards(tensor: tf.Tensor) -> tf.Tensor:
    """Every clip from its last frame to its first; what is missing stays behind."""
    lengths = tf.reduce_sum(tf.cast(_is_there(tensor), tf.int32), 1)
    return tf.reverse_sequence(tensor, lengths, seq_axis=1)
