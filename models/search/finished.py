"""The best hypotheses that a beam search has ended so far."""

from typing import Any, NamedTuple

from keras import ops

from pairloom.models.search.hypotheses import NEVER
from pairloom.models.search.tensors import take_beams, top_k


class Finished(NamedTuple):
    """The best of each sentence, best first; a place without a hypothesis scores `NEVER`."""

    scores: Any  # (batch, beams)
    steps: Any  # (batch, beams), the step that gave the end id; -1 in an empty place
    beams: Any  # (batch, beams), the beam it came from
    count: Any  # (batch,), how many there were in all


def none_finished(batch: Any, beams: int) -> Finished:
    """Before the first step."""
    shape = (batch, beams)
    return Finished(
        ops.full(shape, NEVER, dtype="float32"),
        ops.full(shape, -1, dtype="int32"),
        ops.zeros(shape, dtype="int32"),
        ops.zeros((batch,), dtype="int32"),
    )


def add_finished(finished: Finished, t: Any, active: Any, scores: Any, beams: Any) -> Finished:
    """Merges the hypotheses that end at step `t` with those finished.

    Args:
        finished: So far.
        t: The step.
        active: `(active,)`, the sentences' rows in the batch.
        scores: `(active, beams)`, `NEVER` for what does not end.
        beams: `(active, beams)`, where they come from.
    """
    old = Finished(*(ops.take(x, active, axis=0) for x in finished))
    # Of equal scores the first come first, so what does not end never takes a place.
    merged, order = top_k(ops.concatenate([old.scores, scores], 1), scores.shape[1])
    steps = ops.concatenate([old.steps, ops.zeros_like(beams) + t], 1)
    origin = ops.concatenate([old.beams, beams], 1)
    ended = ops.sum(ops.cast(scores > NEVER, "int32"), axis=1)
    new = Finished(merged, take_beams(steps, order), take_beams(origin, order), old.count + ended)
    where = active[:, None]
    return Finished(*(ops.scatter_update(x, where, one) for x, one in zip(finished, new)))


def add_cut_off(finished: Finished, steps: Any, active: Any, scores: Any) -> Finished:
    """Ranks what the length limit cut off, `scores` best first, behind all that is finished.

    Args:
        finished: When the search stopped.
        steps: How many there were.
        active: `(active,)`, the sentences that were not done.
        scores: `(active, beams)`, of their unfinished hypotheses.
    """
    width = scores.shape[1]
    numbers = ops.broadcast_to(ops.arange(width, dtype="int32"), ops.shape(scores))
    old = ops.take(finished.scores, active, axis=0)
    real = ops.sum(ops.cast(old > NEVER, "int32"), axis=1, keepdims=True)
    order = ops.where(numbers < real, numbers, width + numbers - real)
    reached = ops.where(scores > NEVER, steps, -1)

    def update(x, new):
        both = ops.concatenate([ops.take(x, active, axis=0), ops.cast(new, x.dtype)], 1)
        return ops.scatter_update(x, active[:, None], take_beams(both, order))

    return finished._replace(
        scores=update(finished.scores, scores),
        steps=update(finished.steps, reached),
        beams=update(finished.beams, numbers),
    )
