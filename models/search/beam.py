"""Beam search, for any decoder that has `step`."""

from typing import Any, NamedTuple

from keras import ops, tree

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.finished import Finished, add_cut_off, add_finished, none_finished
from pairloom.models.search.group import given_weights, prepared
from pairloom.models.search.hypotheses import NEVER, Hypotheses, length_factor
from pairloom.models.search.log_sum import log_sum
from pairloom.models.search.tensors import keep_rows, loop, take_beams, top_k
from pairloom.models.search.top_ids import top_ids
from pairloom.models.search.trail import Trail, empty_trail, trace_back, write_step


class _Search(NamedTuple):
    """The search between two steps. A sentence leaves the first group once it is done."""

    active: Any  # (active,) index into the batch
    ids: Any  # (active, beams)
    log_probability: Any  # (active, beams); `NEVER` in a beam that holds no hypothesis
    seen: Any  # what the constraints keep, (active, beams, ...)
    coverage: Any  # (active, beams, memory_time)
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
    max_length: Any = 100,
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
    batch, memory_time = ops.shape(memory.mask)

    def advance(t: Any, search: _Search) -> tuple[Any, _Search]:
        logits, state, weights = decoder.step(search.ids, search.state, search.memory)
        values, ids, parents = extensions(t, search, ops.cast(logits, "float32"))
        ends = ops.equal(ids, end_id)
        coverage = search.coverage
        if coverage_penalty:
            coverage = coverage + ops.cast(given_weights(weights), "float32")
        scores = score_ends(t, search, values[:, :beams], parents[:, :beams], coverage)
        scores = ops.where(ends[:, :beams], scores, NEVER)
        finished = add_finished(search.finished, t, search.active, scores, parents[:, :beams])

        log_probability, chosen = top_k(ops.where(ends, NEVER, values), beams)
        ids = take_beams(ids, chosen)
        parents = take_beams(parents, chosen)

        def reordered(structure):
            return tree.map_structure(lambda x: take_beams(x, parents), structure)

        kept = given_weights(weights) if with_weights else None
        search = search._replace(
            ids=ids,
            log_probability=log_probability,
            seen=constraints.extend(reordered(search.seen), ids),
            coverage=reordered(coverage) if coverage_penalty else coverage,
            state=reordered(state),
            finished=finished,
            trail=write_step(search.trail, t, search.active, ids, parents, kept),
        )
        # A hypothesis has `t + 1` ids, and the end is one more.
        reach = growth * ops.cast(t + 1, "float32") + 1.0
        longest = ops.minimum(reach, ops.cast(max_length, "float32"))
        return t + 1, _drop_done(search, beams, nbest, length_factor(longest, length_penalty))

    def extensions(t: Any, search: _Search, logits: Any) -> tuple[Any, Any, Any]:
        """The best by one id: log probabilities, ids and parents, `(active, 2 * beams)`."""
        allowed = constraints.bar(logits, t, search.active, search.seen)
        # Each beam ends in one way only, so among twice the beams enough go on.
        width = min(2 * beams, logits.shape[-1])
        best, best_ids = top_ids(allowed, width)
        likely = constraints.likeliest(logits, best_ids[..., 0])
        totals = search.log_probability - log_sum(logits, likely)
        candidates = ops.reshape(best + totals[..., None], (-1, beams * width))
        values, indices = top_k(candidates, min(2, width) * beams)
        ids = take_beams(ops.reshape(best_ids, (-1, beams * width)), indices)
        return values, ids, indices // width

    def score_ends(t: Any, search: _Search, values: Any, parents: Any, coverage: Any) -> Any:
        scores = values / length_factor(t + 1, length_penalty)
        if coverage_penalty:
            real = ops.cast(search.memory.mask, "float32")[:, None]
            logs = ops.log(ops.clip(take_beams(coverage, parents), 1e-9, 1.0)) * real
            scores = scores + coverage_penalty * ops.sum(logs, axis=-1)
        return scores

    shape = (batch, beams)
    # All beams start alike, so all but one are barred from the first step.
    first = ops.convert_to_tensor([[0.0] + [NEVER] * (beams - 1)], dtype="float32")
    search = _Search(
        active=ops.arange(batch, dtype="int32"),
        ids=ops.full(shape, begin_id, dtype="int32"),
        log_probability=ops.broadcast_to(first, shape),
        seen=constraints.begin(batch, beams),
        coverage=ops.zeros((*shape, memory_time if coverage_penalty else 0)),
        state=decoder.initial_state(memory, beams),
        memory=memory,
        finished=none_finished(batch, beams),
        trail=empty_trail(max_length, shape, memory_time, memory.states.dtype, with_weights),
    )
    steps, search = loop(
        lambda t, search: ops.logical_and(t < max_length, ops.shape(search.active)[0] > 0),
        advance,
        (0, search),
    )
    cut_off = search.log_probability / length_factor(steps, length_penalty)
    finished = add_cut_off(search.finished, steps, search.active, cut_off)
    return trace_back(search.trail, finished, steps, nbest, end_id, with_weights)


def _drop_done(search: _Search, beams: int, nbest: int, factor: Any) -> _Search:
    """Lets the sentences go whose best will stand, whatever is found up to some length.

    Args:
        search: So far.
        beams: How many hypotheses of a sentence end at most.
        nbest: How many are its best.
        factor: The `length_factor` of that length.
    """
    count = ops.take(search.finished.count, search.active, axis=0)
    worst = ops.take(search.finished.scores, search.active, axis=0)[:, nbest - 1]
    # Log probabilities are negative and only fall: up to that length no hypothesis can score above
    # this. Where no beam holds one any more it is `NEVER`, so that the sentence is done as well.
    bound = search.log_probability[:, 0] / factor
    done = ops.logical_or(count >= beams, bound <= worst)
    names = ("active", "ids", "log_probability", "seen", "coverage", "state", "memory")
    kept = keep_rows(ops.logical_not(done), {name: getattr(search, name) for name in names})
    return search._replace(**kept)
