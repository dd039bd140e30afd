"""Beam search in the graph, for any decoder that has `step`."""

from typing import Any, NamedTuple

import tensorflow as tf

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.finished import Finished, add_cut_off, add_finished, none_finished
from pairloom.models.search.group import given_weights, keep_active, prepared, shape_invariants
from pairloom.models.search.hypotheses import NEVER, Hypotheses, length_factor
from pairloom.models.search.log_sum import log_sum
from pairloom.models.search.top_ids import top_ids
from pairloom.models.search.trail import Trail, empty_trail, trace_back, write_step


class _Loop(NamedTuple):
    """The search between two steps. A sentence leaves the first group once it is done."""

    active: tf.Tensor  # (active,) index into the batch
    ids: tf.Tensor  # (active, beams)
    log_probability: tf.Tensor  # (active, beams); `NEVER` in a beam that holds no hypothesis
    seen: Any  # what the constraints keep, (active, beams, ...)
    coverage: tf.Tensor  # (active, beams, memory_time)
    state: Any  # (active, beams, ...)
    memory: Any  # (active, ...)

    finished: Finished
    trail: Trail


def beam_search(
    decoder: Any,
    memory: Memory,
    *,
    beams: int = 5,
    nbest: int = 1,
    max_length: int | tf.Tensor = 100,
    min_length: int = 0,
    no_repeat_ngrams: int = 0,
    prefix: Any = None,
    length_penalty: float = 0.0,
    coverage_penalty: float = 0.0,
    growth: float = 1.25,
    begin_id: int = 2,
    end_id: int = 3,
    with_weights: bool = False,
) -> Hypotheses:
    """Finds the outputs that the decoder thinks likeliest.

    A hypothesis' score is `log P / ((5 + length) / 6) ^ length_penalty` plus
    `coverage_penalty * sum_j log(min(sum_t a_tj, 1))`, Wu et al. (2016), section 7. At each step
    a sentence keeps its `beams` best unfinished hypotheses; one that ends among the `beams` best
    is finished. A sentence is done when `beams` of its hypotheses are finished, or when no
    unfinished one can still enter its `nbest` best before it is `growth` times as long; it then
    leaves the batch, so that short sentences do not wait for long ones. What a sentence is searched
    with never changes its result. (A larger `nbest` may, in the rare case that a search that goes
    on for the others comes upon a better first.)

    `min_length`, `no_repeat_ngrams` and `prefix` decide what may be written, never how likely it
    is: `log P` is the decoder's own. The prefix comes before the other two, and where nothing else
    is left, a hypothesis may end, even before `min_length`. Padding (id 0) and the begin id are
    never written but by a prefix.

    Args:
        decoder: Has `prepare(memory)`, `initial_state(memory, beams)` and
            `step(ids, state, memory) -> (logits, state, weights)`. The state is any structure of
            tensors `(batch, beams, ...)`. Their shapes stay, but for axes that may grow from step
            to step: those of length 0 in the initial state, and those of no static length.
        memory: Of `batch` inputs.
        beams: How many hypotheses are kept at each step.
        nbest: How many are returned, at most `beams`, all different. Where there are fewer in all,
            the last are empty: their length is 0 and their score minus infinity.
        max_length: Steps after which a sentence is cut off, the end id included.
        min_length: What a hypothesis reaches before it ends, the end id included; 0 is off.
        no_repeat_ngrams: So many ids in a row never occur twice in a hypothesis; 0 is off.
        prefix: `(batch, prefix_time)`, the ids that every hypothesis of an input begins with, 0
            behind them. They count in length and score; those behind `max_length` are ignored.
        length_penalty: 0 compares sums of log probabilities; 1 nearly compares their means.
        coverage_penalty: 0 is off.
        growth: How far a search looks ahead, at least 1. A length penalty forgives a hypothesis
            much, if only it becomes long enough; `float("inf")` waits for that until `max_length`,
            for answers that are hardly ever others (docs/benchmarks.md).
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
    if not growth >= 1:
        raise ValueError(f"`growth` must be at least 1. Received: growth={growth}.")
    constraints = Constraints(
        end_id=end_id,
        begin_id=begin_id,
        min_length=min_length,
        no_repeat_ngrams=no_repeat_ngrams,
        prefix=prefix,
        max_length=max_length,
    )
    memory = prepared(decoder, memory)
    batch, memory_time = tf.unstack(tf.shape(memory.mask))
    max_length = tf.convert_to_tensor(max_length, tf.int32)

    def advance(t: tf.Tensor, loop: _Loop) -> _Loop:
        logits, state, weights = decoder.step(loop.ids, loop.state, loop.memory)
        values, ids, parents = extensions(t, loop, tf.cast(logits, tf.float32))
        ends = tf.equal(ids, end_id)
        coverage = loop.coverage
        if coverage_penalty:
            coverage += tf.cast(given_weights(weights), tf.float32)
        scores = score_ends(t, loop, values[:, :beams], parents[:, :beams], coverage)
        scores = tf.where(ends[:, :beams], scores, NEVER)
        finished = add_finished(loop.finished, t, loop.active, scores, parents[:, :beams])

        going_on = tf.where(ends, NEVER, values)
        log_probability, chosen = tf.math.top_k(going_on, beams)
        ids = tf.gather(ids, chosen, batch_dims=1)
        parents = tf.gather(parents, chosen, batch_dims=1)

        def reorder(x):
            return tf.gather(x, parents, batch_dims=1)

        loop = loop._replace(
            ids=ids,
            log_probability=log_probability,
            seen=constraints.extend(tf.nest.map_structure(reorder, loop.seen), ids),
            coverage=reorder(coverage) if coverage_penalty else coverage,
            state=tf.nest.map_structure(reorder, state),
            finished=finished,
            trail=write_step(
                loop.trail,
                t,
                loop.active,
                ids,
                parents,
                given_weights(weights) if with_weights else None,
            ),
        )
        # A hypothesis has `t + 1` ids, and the end is one more.
        reach = growth * tf.cast(t + 1, tf.float32) + 1.0
        longest = tf.minimum(reach, tf.cast(max_length, tf.float32))
        return _drop_done(loop, beams, nbest, length_factor(longest, length_penalty))

    def extensions(t, loop, logits) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """The best by one id: log probabilities, ids and parents, `(active, 2 * beams)`."""
        allowed = constraints.bar(logits, t, loop.active, loop.seen)
        # Each beam ends in one way only, so among twice the beams enough go on.
        width = min(2 * beams, logits.shape[-1])
        best, best_ids = top_ids(allowed, width)
        likely = constraints.likeliest(logits, best_ids[..., 0])
        totals = loop.log_probability - log_sum(logits, likely)
        candidates = tf.reshape(best + totals[..., None], [-1, beams * width])
        values, indices = tf.math.top_k(candidates, min(2, width) * beams)
        ids = tf.gather(tf.reshape(best_ids, tf.shape(candidates)), indices, batch_dims=1)
        return values, ids, indices // width

    def score_ends(t, loop, values, parents, coverage) -> tf.Tensor:
        scores = values / length_factor(t + 1, length_penalty)
        if coverage_penalty:
            covered = tf.gather(coverage, parents, batch_dims=1)
            real = tf.cast(loop.memory.mask, tf.float32)[:, None]
            logs = tf.math.log(tf.clip_by_value(covered, 1e-9, 1.0)) * real
            scores += coverage_penalty * tf.reduce_sum(logs, -1)
        return scores

    shape = [batch, beams]
    loop = _Loop(
        active=tf.range(batch),
        ids=tf.fill(shape, begin_id),
        # All beams start alike, so all but one are barred from the first step.
        log_probability=tf.tile(tf.constant([[0.0] + [NEVER] * (beams - 1)]), [batch, 1]),
        seen=constraints.begin(batch, beams),
        coverage=tf.zeros([batch, beams, memory_time] if coverage_penalty else [batch, beams, 0]),
        state=decoder.initial_state(memory, beams),
        memory=memory,
        finished=none_finished(batch, beams),
        trail=empty_trail(max_length, shape, memory_time, memory.states.dtype, with_weights),
    )
    steps, loop = tf.while_loop(
        lambda t, loop: (t < max_length) & (tf.size(loop.active) > 0),
        lambda t, loop: (t + 1, advance(t, loop)),
        (0, loop),
        shape_invariants=(tf.TensorShape([]), shape_invariants(loop)),
    )
    cut_off = loop.log_probability / length_factor(steps, length_penalty)
    finished = add_cut_off(loop.finished, steps, loop.active, cut_off)
    return trace_back(loop.trail, finished, steps, nbest, end_id, with_weights)


def _drop_done(loop: _Loop, beams: int, nbest: int, factor: tf.Tensor) -> _Loop:
    """Lets the sentences go whose best will stand, whatever is found up to some length.

    Args:
        loop: The search.
        beams: How many hypotheses of a sentence end at most.
        nbest: How many are its best.
        factor: The `length_factor` of that length.
    """
    count = tf.gather(loop.finished.count, loop.active)
    worst = tf.gather(loop.finished.scores, loop.active)[:, nbest - 1]
    # Log probabilities are negative and only fall: up to that length no hypothesis can score above
    # this. Where no beam holds one any more it is `NEVER`, so that the sentence is done as well.
    bound = loop.log_probability[:, 0] / factor
    done = (count >= beams) | (bound <= worst)
    names = ("active", "ids", "log_probability", "seen", "coverage", "state", "memory")
    kept = keep_active(~done, {name: getattr(loop, name) for name in names})
    return loop._replace(**kept)
