"""Outputs that grow by one id a step, never to be taken back: the loop of greedy and sampling."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.group import given_weights, keep_active, prepared, shape_invariants
from pairloom.models.search.hypotheses import Hypotheses
from pairloom.models.search.log_sum import log_sum
from pairloom.models.search.top_ids import top_id
from pairloom.models.search.trail import write_rows

# `(logits, t, active) -> ids`: logits `(active, paths, vocabulary_size)` of the step `t` for these
# rows of the batch, minus infinity where an id is barred, to `(active, paths)` of int32.
Choose = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


def follow_paths(
    decoder: Any,
    memory: Memory,
    choose: Choose,
    constraints: Constraints,
    *,
    paths: int,
    max_length: int | tf.Tensor,
    begin_id: int,
    end_id: int,
    with_weights: bool,
) -> Hypotheses:
    """Steps until every path has ended. An input leaves the batch when all of its paths have.

    Args:
        decoder: As `beam_search` takes it.
        memory: Of `batch` inputs.
        choose: Gives each path's next id.
        constraints: What it may choose from.
        paths: How many to follow for each input.
        max_length: Steps after which a path is cut off, the end id included.
        begin_id: What the decoder is fed first.
        end_id: What ends a path.
        with_weights: Whether the attention comes back too.

    Returns:
        `Hypotheses` of `paths` for each input, with log probabilities for scores.
    """
    memory = prepared(decoder, memory)
    batch, memory_time = tf.unstack(tf.shape(memory.mask))
    max_length = tf.convert_to_tensor(max_length, tf.int32)

    def advance(t, group, history):
        active, fed, ended, seen, state, group_memory = group
        all_ids, all_weights, log_probability = history
        logits, state, weights = decoder.step(fed, state, group_memory)
        logits = tf.cast(logits, tf.float32)
        allowed = constraints.bar(logits, t, active, seen)
        ids = choose(allowed, t, active)
        likely = constraints.likeliest(logits, top_id(allowed))
        gained = tf.gather(logits, ids, batch_dims=2) - log_sum(logits, likely)

        ids = tf.where(ended, 0, ids)
        where = tf.stack([active, tf.fill(tf.shape(active), t)], 1)
        all_ids = tf.tensor_scatter_nd_update(all_ids, where, ids)
        if with_weights:
            weights = given_weights(weights)
            weights *= tf.cast(~ended, weights.dtype)[..., None]
            all_weights = write_rows(all_weights, where, weights)
        log_probability = tf.tensor_scatter_nd_add(
            log_probability, active[:, None], tf.where(ended, 0.0, gained)
        )
        ended |= tf.equal(ids, end_id)
        seen = constraints.extend(seen, ids)
        group = (active, ids, ended, seen, state, group_memory)
        group = keep_active(~tf.reduce_all(ended, -1), group)
        return t + 1, group, (all_ids, all_weights, log_probability)

    group = (
        tf.range(batch),
        tf.fill([batch, paths], begin_id),
        tf.zeros([batch, paths], tf.bool),
        constraints.begin(batch, paths),
        decoder.initial_state(memory, paths),
        memory,
    )
    kept = [batch, max_length if with_weights else 0, paths, memory_time]
    history = (
        tf.zeros([batch, max_length, paths], tf.int32),
        tf.zeros(kept, memory.states.dtype),
        tf.zeros([batch, paths]),
    )
    steps, _, (ids, weights, log_probability) = tf.while_loop(
        lambda t, group, _: (t < max_length) & (tf.size(group[0]) > 0),
        advance,
        (0, group, history),
        shape_invariants=(tf.TensorShape([]), *shape_invariants((group, history))),
    )
    ids = ids[:, :steps]
    behind = tf.cumsum(tf.cast(tf.equal(ids, end_id), tf.int32), axis=1, exclusive=True)
    return Hypotheses(
        ids=tf.transpose(ids, [0, 2, 1]),
        lengths=steps - tf.reduce_sum(behind, 1),
        scores=log_probability,
        weights=tf.transpose(weights[:, :steps], [0, 2, 1, 3]) if with_weights else None,
    )
