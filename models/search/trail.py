"""What a beam search leaves behind at each step, and the way back through it."""

from typing import Any, NamedTuple

from keras import ops

from pairloom.models.search.finished import Finished
from pairloom.models.search.hypotheses import Hypotheses
from pairloom.models.search.tensors import loop, take_beams


class Trail(NamedTuple):
    """For each step, sentence and beam."""

    ids: Any  # (max_length, batch, beams)
    parents: Any  # (max_length, batch, beams), the beam of the step before
    weights: Any  # (max_length, batch, beams, memory_time) of the parents; or no steps


def empty_trail(
    max_length: Any, shape: tuple, memory_time: Any, dtype: str, with_weights: bool
) -> Trail:
    """Before the first step; `shape` is `(batch, beams)`, `dtype` the weights'."""
    kept = max_length if with_weights else 0
    return Trail(
        ops.zeros((max_length, *shape), dtype="int32"),
        ops.zeros((max_length, *shape), dtype="int32"),
        ops.zeros((kept, *shape, memory_time), dtype=dtype),
    )


def write_rows(history: Any, where: Any, rows: Any) -> Any:
    """Writes rows into a history that may have no room: weights over a memory without positions.

    TensorFlow refuses to write even nothing there.
    """
    room = ops.cast(ops.size(history) > 0, "int32") * ops.shape(where)[0]
    return ops.scatter_update(history, where[:room], rows[:room])


def write_step(trail: Trail, t: Any, active: Any, ids: Any, parents: Any, weights: Any) -> Trail:
    """Keeps step `t` of the `active` sentences; its weights unless they are None."""
    where = ops.stack([ops.zeros_like(active) + t, active], 1)
    return Trail(
        ops.scatter_update(trail.ids, where, ids),
        ops.scatter_update(trail.parents, where, parents),
        trail.weights if weights is None else write_rows(trail.weights, where, weights),
    )


def trace_back(
    trail: Trail, finished: Finished, steps: Any, nbest: int, end_id: int, with_weights: bool
) -> Hypotheses:
    """Follows the parents from each finished hypothesis back to the first step."""
    ends = finished.steps[:, :nbest]
    memory_time = ops.shape(trail.weights)[-1]
    shape = ops.shape(ends)

    def back(t, beams, ids, weights):
        here = ops.reshape(ops.cast(t, "int32"), (1, 1))
        parents = take_beams(trail.parents[t], beams)
        beams_before = ops.where(t < ends, parents, beams)
        written = ops.where(t < ends, take_beams(trail.ids[t], beams), 0)
        written = ops.where(ops.equal(ends, t), end_id, written)
        ids = ops.scatter_update(ids, here, written[None])
        if with_weights:
            row = take_beams(trail.weights[t], beams_before)
            row = row * ops.cast(t <= ends, row.dtype)[..., None]
            weights = write_rows(weights, here, row[None])
        return t - 1, beams_before, ids, weights

    kept = steps if with_weights else 0
    start = (
        steps - 1,
        finished.beams[:, :nbest],
        ops.zeros((steps, *shape), dtype="int32"),
        ops.zeros((kept, *shape, memory_time), dtype=trail.weights.dtype),
    )
    _, _, ids, weights = loop(lambda t, *_: t >= 0, back, start)
    return Hypotheses(
        ids=ops.transpose(ids, (1, 2, 0)),
        lengths=ops.minimum(ends + 1, steps),
        scores=finished.scores[:, :nbest],
        weights=ops.transpose(weights, (1, 2, 0, 3)) if with_weights else None,
    )
