"""Feeding a decoder some of its own words while it learns."""

from typing import Any

import keras
from keras import ops

from pairloom.models.memory import Memory


def scheduled_ids(decoder: Any, ids, memory: Memory, share, seed: keras.random.SeedGenerator):
    """Replaces a share of what the decoder is fed by what it would have said.

    Bengio et al. (2015), in the parallel form of Duckworth et al. (2019): one pass without
    gradient draws a word for every position, and those words replace the real ones one position
    later. So it costs one more pass, not one more for each step, and suits any decoder.

    Args:
        decoder: Has `features(ids, memory)` and `logits(features)`.
        ids: `(batch, time)`, the begin id, then the target, 0 where there is nothing.
        memory: A `Memory`.
        share: The chance of each position, from 0 to 1; a number or a tensor.
        seed: Of the draws.

    Returns:
        `(batch, time)` like `ids`; the begin id and padding stay.
    """
    features, _ = decoder.features(ids, memory)
    logits = ops.stop_gradient(ops.cast(decoder.logits(features), "float32"))
    batch, time = ops.shape(ids)
    flat = ops.reshape(logits, (-1, logits.shape[-1]))
    drawn = keras.random.categorical(flat, 1, dtype=ids.dtype, seed=seed)
    drawn = ops.reshape(drawn, (batch, time))
    said = ops.concatenate([ids[:, :1], drawn[:, :-1]], 1)
    chance = keras.random.uniform((batch, time), seed=seed)
    replaced = ops.logical_and(chance < share, ops.not_equal(ids, 0))
    keep_first = ops.arange(time)[None] > 0
    return ops.where(ops.logical_and(replaced, keep_first), said, ids)
