"""Outputs that grow by one id a step, never to be taken back: the loop of greedy and sampling."""

from collections.abc import Callable
from typing import Any

from keras import ops

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.group import given_weights, prepared
from pairloom.models.search.hypotheses import Hypotheses
from pairloom.models.search.log_sum import log_sum
from pairloom.models.search.tensors import keep_rows, loop, take_ids
from pairloom.models.search.top_ids import top_id
from pairloom.models.search.trail import write_rows

# `(logits, t, active) -> ids`: logits `(active, paths, vocabulary_size)` of the step `t` for these
# rows of the batch, minus infinity where an id is barred, to `(active, paths)` of int32.
Choose = Callable[[Any, Any, Any], Any]


def follow_paths(
    decoder: Any,
    memory: Memory,
    choose: Choose,
    constraints: Constraints,
    *,
    paths: int,
    max_length: Any,
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
    batch, memory_time = ops.shape(memory.mask)

    def advance(t, group, history):
        active, fed, ended, seen, state, group_memory = group
        all_ids, all_weights, log_probability = history
        logits, state, weights = decoder.step(fed, state, group_memory)
        logits = ops.cast(logits, "float32")
        allowed = constraints.bar(logits, t, active, seen)
        ids = choose(allowed, t, active)
        likely = constraints.likeliest(logits, top_id(allowed))
        gained = take_ids(logits, ids) - log_sum(logits, likely)

        ids = ops.where(ended, 0, ids)
        where = ops.stack([active, ops.zeros_like(active) + t], 1)
        all_ids = ops.scatter_update(all_ids, where, ids)
        if with_weights:
            weights = given_weights(weights)
            weights = weights * ops.cast(ops.logical_not(ended), weights.dtype)[..., None]
            all_weights = write_rows(all_weights, where, weights)
        total = ops.take(log_probability, active, axis=0) + ops.where(ended, 0.0, gained)
        log_probability = ops.scatter_update(log_probability, active[:, None], total)
        ended = ops.logical_or(ended, ops.equal(ids, end_id))
        seen = constraints.extend(seen, ids)
        group = (active, ids, ended, seen, state, group_memory)
        group = keep_rows(ops.logical_not(ops.all(ended, axis=-1)), group)
        return t + 1, group, (all_ids, all_weights, log_probability)

    group = (
        ops.arange(batch, dtype="int32"),
        ops.full((batch, paths), begin_id, dtype="int32"),
        ops.zeros((batch, paths), dtype="bool"),
        constraints.begin(batch, paths),
        decoder.initial_state(memory, paths),
        memory,
    )
    kept = (batch, max_length if with_weights else 0, paths, memory_time)
    history = (
        ops.zeros((batch, max_length, paths), dtype="int32"),
        ops.zeros(kept, dtype=memory.states.dtype),
        ops.zeros((batch, paths)),
    )
    steps, _, (ids, weights, log_probability) = loop(
        lambda t, group, _: ops.logical_and(t < max_length, ops.shape(group[0])[0] > 0),
        advance,
        (0, group, history),
    )
    ids = ids[:, :steps]
    is_end = ops.cast(ops.equal(ids, end_id), "int32")
    behind = ops.cumsum(is_end, axis=1) - is_end
    return Hypotheses(
        ids=ops.transpose(ids, (0, 2, 1)),
        lengths=steps - ops.sum(behind, axis=1),
        scores=log_probability,
        weights=ops.transpose(weights[:, :steps], (0, 2, 1, 3)) if with_weights else None,
    )
