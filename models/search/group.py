"""The sentences of a batch that a search still works on."""

from typing import Any

import tensorflow as tf


def prepared(decoder: Any, memory: Any) -> Any:
    """What `decoder` makes of `memory` before the first step, all of it tensors."""
    # A part may be left out.
    memory = tf.nest.map_structure(lambda x: x if x is None else tf.convert_to_tensor(x), memory)
    return decoder.prepare(memory)


def given_weights(weights: Any) -> Any:
    """The weights of a step, where a search needs them."""
    if weights is None:
        raise ValueError(
            "`with_weights` and `coverage_penalty` need the weights of every step, and the "
            "decoder's `step` gives none. Received: weights=None."
        )
    return weights


def keep_active(keep: tf.Tensor, group: Any) -> Any:
    """Takes the rows of every tensor in `group` where `keep (active,)` is True."""

    def shrink():
        rows = tf.where(keep)[:, 0]
        return tf.nest.map_structure(lambda x: tf.gather(x, rows), group)

    return tf.cond(tf.reduce_all(keep), lambda: tf.nest.map_structure(tf.identity, group), shrink)


def shape_invariants(loop: Any) -> Any:
    """What stays of each tensor's shape from step to step.

    The first axis may change, for it counts the active sentences; so may one that starts empty,
    for what grows with the steps, such as a decoder's cache, starts so.
    """

    def invariant(x):
        if not x.shape.rank:
            return x.shape
        return tf.TensorShape([None, *(size or None for size in x.shape[1:])])

    return tf.nest.map_structure(invariant, loop)
