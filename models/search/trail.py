"""What a beam search leaves behind at each step, and the way back through it."""

from typing import NamedTuple

import tensorflow as tf

from pairloom.models.search.finished import Finished
from pairloom.models.search.hypotheses import Hypotheses


class Trail(NamedTuple):
    """For each step, sentence and beam."""

    ids: tf.Tensor  # (max_length, batch, beams)
    parents: tf.Tensor  # (max_length, batch, beams), the beam of the step before
    weights: tf.Tensor  # (max_length, batch, beams, memory_time) of the parents; or no steps


def empty_trail(
    max_length: tf.Tensor, shape: list, memory_time: tf.Tensor, dtype, with_weights: bool
) -> Trail:
    """Before the first step; `shape` is `[batch, beams]`, `dtype` the weights'."""
    kept = max_length if with_weights else 0
    return Trail(
        tf.zeros([max_length, *shape], tf.int32),
        tf.zeros([max_length, *shape], tf.int32),
        tf.zeros([kept, *shape, memory_time], dtype),
    )


def write_rows(history: tf.Tensor, where: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """Writes rows into a history that may have no room: weights over a memory without positions.

    TensorFlow refuses to write even nothing there.
    """
    room = tf.cast(tf.size(history) > 0, tf.int32) * tf.shape(where)[0]
    return tf.tensor_scatter_nd_update(history, where[:room], rows[:room])


def write_step(
    trail: Trail,
    t: tf.Tensor,
    active: tf.Tensor,
    ids: tf.Tensor,
    parents: tf.Tensor,
    weights: tf.Tensor | None,
) -> Trail:
    """Keeps step `t` of the `active` sentences; its weights unless they are None."""
    where = tf.stack([tf.fill(tf.shape(active), t), active], 1)

    def write(history, x):
        return write_rows(history, where, x)

    return Trail(
        write(trail.ids, ids),
        write(trail.parents, parents),
        trail.weights if weights is None else write(trail.weights, weights),
    )


def trace_back(
    trail: Trail, finished: Finished, steps: tf.Tensor, nbest: int, end_id: int, with_weights: bool
) -> Hypotheses:
    """Follows the parents from each finished hypothesis back to the first step."""
    ends = finished.steps[:, :nbest]
    memory_time = tf.shape(trail.weights)[-1]
    shape = tf.shape(ends)

    def back(t, beams, ids, weights):
        parents = tf.gather(trail.parents[t], beams, batch_dims=1)
        beams_before = tf.where(t < ends, parents, beams)
        here = tf.where(t < ends, tf.gather(trail.ids[t], beams, batch_dims=1), 0)
        here = tf.where(tf.equal(t, ends), end_id, here)
        ids = tf.tensor_scatter_nd_update(ids, [[t]], here[None])
        if with_weights:
            row = tf.gather(trail.weights[t], beams_before, batch_dims=1)
            row *= tf.cast(t <= ends, row.dtype)[..., None]
            weights = write_rows(weights, tf.reshape(t, [1, 1]), row[None])
        return t - 1, beams_before, ids, weights

    weights = tf.zeros(
        [steps if with_weights else 0, shape[0], shape[1], memory_time], trail.weights.dtype
    )
    _, _, ids, weights = tf.while_loop(
        lambda t, *_: t >= 0,
        back,
        (
            steps - 1,
            finished.beams[:, :nbest],
            tf.zeros([steps, shape[0], shape[1]], tf.int32),
            weights,
        ),
    )
    return Hypotheses(
        ids=tf.transpose(ids, [1, 2, 0]),
        lengths=tf.minimum(ends + 1, steps),
        scores=finished.scores[:, :nbest],
        weights=tf.transpose(weights, [1, 2, 0, 3]) if with_weights else None,
    )
