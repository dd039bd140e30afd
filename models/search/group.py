"""The sentences of a batch that a search still works on."""

from typing import Any

import tensorflow as tf


def keep_active(keep: tf.Tensor, group: Any) -> Any:
    """Takes the rows of every tensor in `group` where `keep (active,)` is True."""

    def shrink():
        rows = tf.where(keep)[:, 0]
        return tf.nest.map_structure(lambda x: tf.gather(x, rows), group)

    return tf.cond(tf.reduce_all(keep), lambda: tf.nest.map_structure(tf.identity, group), shrink)


def shape_invariants(loop: Any) -> Any:
    """Shapes that let the number of active sentences change: the first axis of every tensor."""
    return tf.nest.map_structure(
        lambda x: tf.TensorShape([None]).concatenate(x.shape[1:]) if x.shape.rank else x.shape, loop
    )
