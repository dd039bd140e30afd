"""The best hypotheses that a beam search has ended so far."""

from typing import NamedTuple

import tensorflow as tf

from pairloom.models.search.hypotheses import NEVER


class Finished(NamedTuple):
    """The best of each sentence, best first; a place without a hypothesis scores `NEVER`."""

    scores: tf.Tensor  # (batch, beams)
    steps: tf.Tensor  # (batch, beams), the step that gave the end id; -1 in an empty place
    beams: tf.Tensor  # (batch, beams), the beam it came from
    count: tf.Tensor  # (batch,), how many there were in all


def none_finished(batch: tf.Tensor, beams: int) -> Finished:
    """Before the first step."""
    shape = [batch, beams]
    return Finished(
        tf.fill(shape, NEVER),
        tf.fill(shape, -1),
        tf.zeros(shape, tf.int32),
        tf.zeros([batch], tf.int32),
    )


def add_finished(
    finished: Finished, t: tf.Tensor, active: tf.Tensor, scores: tf.Tensor, beams: tf.Tensor
) -> Finished:
    """Merges the hypotheses that end at step `t` with those finished.

    Args:
        finished: So far.
        t: The step.
        active: `(active,)`, the sentences' rows in the batch.
        scores: `(active, beams)`, `NEVER` for what does not end.
        beams: `(active, beams)`, where they come from.
    """
    old = [tf.gather(x, active) for x in (finished.scores, finished.steps, finished.beams)]
    # Of equal scores the first come first, so what does not end never takes a place.
    merged, order = tf.math.top_k(tf.concat([old[0], scores], 1), scores.shape[1])
    steps = tf.concat([old[1], tf.fill(tf.shape(beams), t)], 1)
    origin = tf.concat([old[2], beams], 1)
    where = active[:, None]
    ended = tf.reduce_sum(tf.cast(scores > NEVER, tf.int32), 1)

    def update(x, new):
        return tf.tensor_scatter_nd_update(x, where, new)

    return Finished(
        update(finished.scores, merged),
        update(finished.steps, tf.gather(steps, order, batch_dims=1)),
        update(finished.beams, tf.gather(origin, order, batch_dims=1)),
        tf.tensor_scatter_nd_add(finished.count, where, ended),
    )


def add_cut_off(
    finished: Finished, steps: tf.Tensor, active: tf.Tensor, scores: tf.Tensor
) -> Finished:
    """Ranks what the length limit cut off, `scores` best first, behind all that is finished.

    Args:
        finished: When the search stopped.
        steps: How many there were.
        active: `(active,)`, the sentences that were not done.
        scores: `(active, beams)`, of their unfinished hypotheses.
    """
    numbers = tf.broadcast_to(tf.range(scores.shape[1]), tf.shape(scores))
    old = tf.gather(finished.scores, active)
    real = tf.reduce_sum(tf.cast(old > NEVER, tf.int32), 1, keepdims=True)
    order = tf.where(numbers < real, numbers, scores.shape[1] + numbers - real)
    reached = tf.where(scores > NEVER, steps, -1)

    def update(x, new):
        both = tf.concat([tf.gather(x, active), new], 1)
        chosen = tf.gather(both, order, batch_dims=1)
        return tf.tensor_scatter_nd_update(x, active[:, None], chosen)

    return finished._replace(
        scores=update(finished.scores, scores),
        steps=update(finished.steps, reached),
        beams=update(finished.beams, numbers),
    )
