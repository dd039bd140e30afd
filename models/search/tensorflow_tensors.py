"""What searches need beside `keras.ops`, in TensorFlow's graph."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from pairloom.models.search.hypotheses import NEVER


def loop(going_on: Callable, advance: Callable, state: tuple) -> tuple:
    """`state = advance(*state)` as long as `going_on(*state)`."""
    state = tf.nest.map_structure(tf.convert_to_tensor, state)
    return tf.while_loop(going_on, advance, state, shape_invariants=shape_invariants(state))


def shape_invariants(state: Any) -> Any:
    """What stays of each tensor's shape from step to step.

    The first axis may change, for it counts the active sentences; so may one that starts empty,
    for what grows with the steps, such as a decoder's cache, starts so.
    """

    def invariant(x):
        if not x.shape.rank:
            return x.shape
        return tf.TensorShape([None, *(size or None for size in x.shape[1:])])

    return tf.nest.map_structure(invariant, state)


def keep_rows(keep: tf.Tensor, group: Any) -> Any:
    """The rows of every tensor in `group` where `keep (rows,)` is True."""

    def shrink():
        rows = tf.where(keep)[:, 0]
        return tf.nest.map_structure(lambda x: tf.gather(x, rows), group)

    return tf.cond(tf.reduce_all(keep), lambda: tf.nest.map_structure(tf.identity, group), shrink)


def take_beams(x: tf.Tensor, beams: tf.Tensor) -> tf.Tensor:
    """Of `x (rows, beams, ...)` in each row the `beams (rows, n)`: `(rows, n, ...)`."""
    return tf.gather(x, beams, batch_dims=1)


def take_ids(x: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """Of `x (rows, beams, size)` what is at `ids (rows, beams, ...)`, in their shape."""
    return tf.gather(x, ids, batch_dims=2)


def top_k(x: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The largest of the last axis and their places, the first of equal ones first."""
    return tf.math.top_k(x, count)


def bar_ids(logits: tf.Tensor, ids: tf.Tensor, barred: tf.Tensor) -> tf.Tensor:
    """`logits (rows, beams, size)`, never at the `ids (rows, beams, n)` that are `barred`."""
    where = tf.where(barred)
    chosen = tf.cast(tf.gather_nd(ids, where), where.dtype)
    places = tf.concat([where[:, :2], chosen[:, None]], 1)
    return tf.tensor_scatter_nd_update(logits, places, tf.fill([tf.shape(places)[0]], NEVER))


def noise(seed: Any, batch: Any, count: int, length: Any) -> tf.Tensor:
    """`(length, batch, count)`, even between 0 and 1: what decides each step of each sample."""
    seed = tf.cast(seed, tf.int64) if tf.is_tensor(seed) else tf.convert_to_tensor(seed, tf.int64)
    rows = tf.range(tf.cast(batch, tf.int64)) if seed.shape.rank == 0 else tf.zeros_like(seed)
    numbers = rows[:, None] * 2**32 + tf.range(count, dtype=tf.int64)
    first = tf.broadcast_to(tf.reshape(seed, [-1, 1]), tf.shape(numbers))
    # A stream for each sample, so that none depends on how many others there are; and one more,
    # for over nothing at all `map_fn` would not know its shape.
    drawn = tf.map_fn(
        lambda own: tf.random.stateless_uniform([length], own),
        tf.pad(tf.reshape(tf.stack([first, numbers], -1), [-1, 2]), [[0, 1], [0, 0]]),
        fn_output_signature=tf.TensorSpec([None], tf.float32),
    )
    return tf.transpose(tf.reshape(drawn[:-1], [batch, count, length]), [2, 0, 1])
