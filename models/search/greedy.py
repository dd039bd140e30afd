"""Greedy search in the graph, for any decoder that has `step`."""

from typing import Any

import tensorflow as tf

from pairloom.models.memory import Memory
from pairloom.models.search.group import keep_active, shape_invariants
from pairloom.models.search.hypotheses import Hypotheses, length_factor


def greedy_search(
    decoder: Any,
    memory: Memory,
    *,
    max_length: int | tf.Tensor = 100,
    length_penalty: float = 0.0,
    begin_id: int = 2,
    end_id: int = 3,
    with_weights: bool = False,
) -> Hypotheses:
    """Takes the likeliest id at every step: `beam_search` with one beam, at less cost.

    Args:
        decoder: Has `prepare(memory)`, `initial_state(memory, beams)` and
            `step(ids, state, memory) -> (logits, state, weights)`.
        memory: Of `batch` inputs.
        max_length: Steps after which a sentence is cut off, the end id included.
        length_penalty: Changes the score alone, as in `beam_search`.
        begin_id: What the decoder is fed first.
        end_id: What ends an output.
        with_weights: Whether the attention comes back too.

    Returns:
        `Hypotheses`, one for each input.
    """
    memory = decoder.prepare(memory)
    batch, memory_time = tf.unstack(tf.shape(memory.mask))
    max_length = tf.convert_to_tensor(max_length, tf.int32)

    def advance(t, group, history):
        active, ids, state, group_memory = group
        all_ids, all_weights, log_probability = history
        logits, state, weights = decoder.step(ids, state, group_memory)
        logits = tf.cast(logits[:, 0], tf.float32)
        ids = tf.argmax(logits, -1, output_type=tf.int32)
        # The likeliest id's probability is never so small that its logarithm would suffer.
        gained = tf.math.log(tf.reduce_max(tf.nn.softmax(logits), -1))
        where = tf.stack([active, tf.fill(tf.shape(active), t)], 1)
        all_ids = tf.tensor_scatter_nd_update(all_ids, where, ids)
        if with_weights:
            all_weights = tf.tensor_scatter_nd_update(all_weights, where, weights[:, 0])
        log_probability = tf.tensor_scatter_nd_add(log_probability, active[:, None], gained)
        group = keep_active(ids != end_id, (active, ids[:, None], state, group_memory))
        return t + 1, group, (all_ids, all_weights, log_probability)

    group = (
        tf.range(batch),
        tf.fill([batch, 1], begin_id),
        decoder.initial_state(memory, 1),
        memory,
    )
    history = (
        tf.zeros([batch, max_length], tf.int32),
        tf.zeros([batch, max_length if with_weights else 0, memory_time], memory.states.dtype),
        tf.zeros([batch]),
    )
    steps, _, (ids, weights, log_probability) = tf.while_loop(
        lambda t, group, _: (t < max_length) & (tf.size(group[0]) > 0),
        advance,
        (0, group, history),
        shape_invariants=(tf.TensorShape([]), *shape_invariants((group, history))),
    )
    ends = tf.cast(tf.equal(ids[:, :steps], end_id), tf.int32)
    lengths = steps - tf.reduce_sum(tf.cumsum(ends, axis=1, exclusive=True), -1)
    return Hypotheses(
        ids=ids[:, None, :steps],
        lengths=lengths[:, None],
        scores=(log_probability / length_factor(lengths, length_penalty))[:, None],
        weights=weights[:, None, :steps] if with_weights else None,
    )
