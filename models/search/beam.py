"""Beam search in the graph, for any decoder that has `step`."""

from typing import Any, NamedTuple

import tensorflow as tf

from pairloom.models.memory import Memory
from pairloom.models.search.group import keep_active, shape_invariants
from pairloom.models.search.hypotheses import Hypotheses, length_factor
from pairloom.models.search.top_ids import top_ids

# Low enough never to win, high enough that sums of a few stay finite.
_NEVER = -1e9


class _Loop(NamedTuple):
    """The search between two steps. A sentence leaves the first group once it is done."""

    active: tf.Tensor  # (active,) index into the batch
    ids: tf.Tensor  # (active, beams)
    log_probability: tf.Tensor  # (active, beams)
    coverage: tf.Tensor  # (active, beams, memory_time)
    state: Any  # (active, beams, ...)
    memory: Any  # (active, ...)

    finished_scores: tf.Tensor  # (batch, beams), best first
    finished_steps: tf.Tensor  # (batch, beams), the step that gave the end id
    finished_beams: tf.Tensor  # (batch, beams), the beam it came from
    finished_count: tf.Tensor  # (batch,)

    all_ids: tf.Tensor  # (max_length, batch, beams)
    all_parents: tf.Tensor  # (max_length, batch, beams)
    all_weights: tf.Tensor  # (max_length, batch, beams, memory_time)


def beam_search(
    decoder: Any,
    memory: Memory,
    *,
    beams: int = 5,
    nbest: int = 1,
    max_length: int | tf.Tensor = 100,
    length_penalty: float = 0.0,
    coverage_penalty: float = 0.0,
    begin_id: int = 2,
    end_id: int = 3,
    with_weights: bool = False,
) -> Hypotheses:
    """Finds the outputs that the decoder thinks likeliest.

    A hypothesis' score is `log P / ((5 + length) / 6) ^ length_penalty` plus
    `coverage_penalty * sum_j log(min(sum_t a_tj, 1))`, Wu et al. (2016), section 7. At each step
    a sentence keeps its `beams` best unfinished hypotheses; one that ends among the `beams` best
    is finished. A sentence is done when `beams` of its hypotheses are finished, or when no
    unfinished one can still enter its `nbest` best; it then leaves the batch, so that short
    sentences do not wait for long ones. What a sentence is searched with never changes its result.

    Args:
        decoder: Has `prepare(memory)`, `initial_state(memory, beams)` and
            `step(ids, state, memory) -> (logits, state, weights)`.
        memory: Of `batch` inputs.
        beams: How many hypotheses are kept at each step.
        nbest: How many are returned, at most `beams`.
        max_length: Steps after which a sentence is cut off, the end id included.
        length_penalty: 0 compares sums of log probabilities; 1 nearly compares their means.
        coverage_penalty: 0 is off.
        begin_id: What the decoder is fed first.
        end_id: What ends a hypothesis.
        with_weights: Whether the attention comes back too.

    Returns:
        `Hypotheses` of `nbest` for each input.
    """
    if not 1 <= nbest <= beams:
        raise ValueError(
            f"`nbest` must be between 1 and `beams`. Received: nbest={nbest}, beams={beams}."
        )
    if length_penalty < 0:
        raise ValueError(
            f"`length_penalty` must not be negative. Received: length_penalty={length_penalty}."
        )
    memory = decoder.prepare(memory)
    batch, memory_time = tf.unstack(tf.shape(memory.mask))
    max_length = tf.convert_to_tensor(max_length, tf.int32)
    longest = length_factor(max_length, length_penalty)

    def advance(t: tf.Tensor, loop: _Loop) -> _Loop:
        logits, state, weights = decoder.step(loop.ids, loop.state, loop.memory)
        logits = tf.cast(logits, tf.float32)
        # Each beam ends in one way only, so among twice the beams enough go on.
        width = min(2 * beams, logits.shape[-1])
        best, best_ids = top_ids(logits, width)
        # log P = logit - log sum, and the sum comes from the likeliest id, whose probability is
        # never so small that its logarithm would suffer: a softmax is fewer passes than a sum.
        likeliest = tf.gather(tf.nn.softmax(logits), best_ids[..., :1], batch_dims=2)[..., 0]
        totals = loop.log_probability + tf.math.log(likeliest) - best[..., 0]
        candidates = tf.reshape(best + totals[..., None], [-1, beams * width])
        values, indices = tf.math.top_k(candidates, 2 * beams)
        parents = indices // width
        ids = tf.gather(tf.reshape(best_ids, tf.shape(candidates)), indices, batch_dims=1)
        ends = tf.equal(ids, end_id)

        coverage = loop.coverage
        if coverage_penalty:
            coverage += tf.cast(weights, tf.float32)
        finished = add_finished(loop, t, values, parents, ends, coverage)

        going_on = tf.where(ends, _NEVER, values)
        log_probability, chosen = tf.math.top_k(going_on, beams)
        ids = tf.gather(ids, chosen, batch_dims=1)
        parents = tf.gather(parents, chosen, batch_dims=1)

        def reorder(x):
            return tf.gather(x, parents, batch_dims=1)

        def write(history, x):
            where = tf.stack([tf.fill(tf.shape(loop.active), t), loop.active], 1)
            return tf.tensor_scatter_nd_update(history, where, x)

        loop = loop._replace(
            ids=ids,
            log_probability=log_probability,
            coverage=reorder(coverage) if coverage_penalty else coverage,
            state=tf.nest.map_structure(reorder, state),
            all_ids=write(loop.all_ids, ids),
            all_parents=write(loop.all_parents, parents),
            all_weights=write(loop.all_weights, weights) if with_weights else loop.all_weights,
            **finished,
        )
        return _drop_done(loop, beams, nbest, longest)

    def add_finished(loop, t, values, parents, ends, coverage) -> dict[str, tf.Tensor]:
        """Merges the hypotheses that end now, among the first `beams`, with those finished."""
        ends, values, parents = ends[:, :beams], values[:, :beams], parents[:, :beams]
        scores = values / length_factor(t + 1, length_penalty)
        if coverage_penalty:
            covered = tf.gather(coverage, parents, batch_dims=1)
            real = tf.cast(loop.memory.mask, tf.float32)[:, None]
            logs = tf.math.log(tf.clip_by_value(covered, 1e-9, 1.0)) * real
            scores += coverage_penalty * tf.reduce_sum(logs, -1)
        scores = tf.where(ends, scores, _NEVER)
        old = [
            tf.gather(x, loop.active)
            for x in (loop.finished_scores, loop.finished_steps, loop.finished_beams)
        ]
        merged, order = tf.math.top_k(tf.concat([old[0], scores], 1), beams)
        steps = tf.concat([old[1], tf.fill(tf.shape(parents), t)], 1)
        origin = tf.concat([old[2], parents], 1)
        where = loop.active[:, None]
        count = tf.reduce_sum(tf.cast(ends, tf.int32), 1)

        def update(x, new):
            return tf.tensor_scatter_nd_update(x, where, new)

        return {
            "finished_scores": update(loop.finished_scores, merged),
            "finished_steps": update(loop.finished_steps, tf.gather(steps, order, batch_dims=1)),
            "finished_beams": update(loop.finished_beams, tf.gather(origin, order, batch_dims=1)),
            "finished_count": tf.tensor_scatter_nd_add(loop.finished_count, where, count),
        }

    shape = [batch, beams]
    loop = _Loop(
        active=tf.range(batch),
        ids=tf.fill(shape, begin_id),
        # All beams start alike, so all but one are barred from the first step.
        log_probability=tf.tile(tf.constant([[0.0] + [_NEVER] * (beams - 1)]), [batch, 1]),
        coverage=tf.zeros([batch, beams, memory_time] if coverage_penalty else [batch, beams, 0]),
        state=decoder.initial_state(memory, beams),
        memory=memory,
        finished_scores=tf.fill(shape, _NEVER),
        finished_steps=tf.zeros(shape, tf.int32),
        finished_beams=tf.zeros(shape, tf.int32),
        finished_count=tf.zeros([batch], tf.int32),
        all_ids=tf.zeros([max_length, *shape], tf.int32),
        all_parents=tf.zeros([max_length, *shape], tf.int32),
        all_weights=tf.zeros(
            [max_length if with_weights else 0, *shape, memory_time], memory.states.dtype
        ),
    )
    steps, loop = tf.while_loop(
        lambda t, loop: (t < max_length) & (tf.size(loop.active) > 0),
        lambda t, loop: (t + 1, advance(t, loop)),
        (0, loop),
        shape_invariants=(tf.TensorShape([]), shape_invariants(loop)),
    )
    loop = _finish_the_rest(loop, steps, length_penalty)
    return _trace_back(loop, steps, nbest, end_id, with_weights)


def _drop_done(loop: _Loop, beams: int, nbest: int, longest: tf.Tensor) -> _Loop:
    """Lets the sentences go that no further step can change."""
    count = tf.gather(loop.finished_count, loop.active)
    worst = tf.gather(loop.finished_scores, loop.active)[:, nbest - 1]
    # Log probabilities are negative and only fall: no hypothesis can score above this.
    bound = loop.log_probability[:, 0] / longest
    done = (count >= beams) | (bound <= worst)
    names = ("active", "ids", "log_probability", "coverage", "state", "memory")
    kept = keep_active(~done, {name: getattr(loop, name) for name in names})
    return loop._replace(**kept)


def _finish_the_rest(loop: _Loop, steps: tf.Tensor, length_penalty: float) -> _Loop:
    """Ranks hypotheses that the length limit cut off behind all that are finished."""
    beams = loop.ids.shape[1]
    where = loop.active[:, None]
    cut_off = loop.log_probability / length_factor(steps, length_penalty)
    finished = tf.gather(loop.finished_scores, loop.active)
    scores = tf.concat([finished, cut_off], 1)
    # The cut-off ones are sorted already, so ties this far down keep their order.
    rank = tf.concat([tf.where(finished > _NEVER, finished, 4 * _NEVER), cut_off + 2 * _NEVER], 1)
    order = tf.math.top_k(rank, beams).indices
    beam_numbers = tf.broadcast_to(tf.range(beams), tf.shape(loop.ids))
    at = tf.concat(
        [tf.gather(loop.finished_steps, loop.active), tf.fill(tf.shape(loop.ids), steps)], 1
    )
    origin = tf.concat([tf.gather(loop.finished_beams, loop.active), beam_numbers], 1)

    def update(x, new):
        return tf.tensor_scatter_nd_update(x, where, tf.gather(new, order, batch_dims=1))

    return loop._replace(
        finished_scores=update(loop.finished_scores, scores),
        finished_steps=update(loop.finished_steps, at),
        finished_beams=update(loop.finished_beams, origin),
    )


def _trace_back(
    loop: _Loop, steps: tf.Tensor, nbest: int, end_id: int, with_weights: bool
) -> Hypotheses:
    """Follows the parents from each finished hypothesis back to the first step."""
    ends = loop.finished_steps[:, :nbest]
    memory_time = tf.shape(loop.all_weights)[-1]
    shape = tf.shape(ends)

    def back(t, beams, ids, weights):
        parents = tf.gather(loop.all_parents[t], beams, batch_dims=1)
        beams_before = tf.where(t < ends, parents, beams)
        here = tf.where(t < ends, tf.gather(loop.all_ids[t], beams, batch_dims=1), 0)
        here = tf.where(tf.equal(t, ends), end_id, here)
        ids = tf.tensor_scatter_nd_update(ids, [[t]], here[None])
        if with_weights:
            row = tf.gather(loop.all_weights[t], beams_before, batch_dims=1)
            row *= tf.cast(t <= ends, row.dtype)[..., None]
            weights = tf.tensor_scatter_nd_update(weights, [[t]], row[None])
        return t - 1, beams_before, ids, weights

    weights = tf.zeros(
        [steps if with_weights else 0, shape[0], shape[1], memory_time], loop.all_weights.dtype
    )
    _, _, ids, weights = tf.while_loop(
        lambda t, *_: t >= 0,
        back,
        (
            steps - 1,
            loop.finished_beams[:, :nbest],
            tf.zeros([steps, shape[0], shape[1]], tf.int32),
            weights,
        ),
    )
    return Hypotheses(
        ids=tf.transpose(ids, [1, 2, 0]),
        lengths=tf.minimum(ends + 1, steps),
        scores=loop.finished_scores[:, :nbest],
        weights=tf.transpose(weights, [1, 2, 0, 3]) if with_weights else None,
    )
