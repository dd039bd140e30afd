"""What a hypothesis must hold to, whatever the decoder prefers."""

from typing import Any

from keras import ops

from pairloom.models.search.hypotheses import NEVER
from pairloom.models.search.tensors import bar_ids, take_ids
from pairloom.models.search.top_ids import top_id


class Constraints:
    """Bars ids from a step of a search. What is not asked for adds nothing to the graph.

    Padding (0) and the begin id are always barred, but where one of them is the end id too. The
    prefix comes before the others: what it forces is never barred. Where nothing else is left, the
    end id is possible, even before `min_length`.

    Args:
        end_id: What ends a hypothesis.
        begin_id: What the decoder is fed first.
        min_length: The end id is barred before, which counts itself; 0 is off.
        no_repeat_ngrams: So many ids in a row never occur twice in a hypothesis; 0 is off.
        prefix: `(batch, prefix_time)`, the ids that hypotheses begin with; 0 forces nothing.
        max_length: What `min_length` must not be above, where both are numbers.
    """

    def __init__(
        self,
        *,
        end_id: int,
        begin_id: int = 2,
        min_length: int = 0,
        no_repeat_ngrams: int = 0,
        prefix: Any = None,
        max_length: Any = None,
    ):
        for name, value in (("min_length", min_length), ("no_repeat_ngrams", no_repeat_ngrams)):
            if value < 0:
                raise ValueError(f"`{name}` must not be negative. Received: {name}={value}.")
        if isinstance(max_length, int) and min_length > max_length:
            raise ValueError(
                "`min_length` must be at most `max_length`. "
                f"Received: min_length={min_length}, max_length={max_length}."
            )
        if prefix is not None:
            prefix = ops.cast(ops.convert_to_tensor(prefix), "int32")
            if len(prefix.shape) != 2:
                raise ValueError(
                    "`prefix` must be `(batch, prefix_time)`. "
                    f"Received: shape={tuple(prefix.shape)}."
                )
            # The last column, which forces nothing, stands for every step behind the prefix.
            prefix = ops.pad(prefix, [[0, 0], [0, 1]])
        self._end_id = end_id
        self._never = sorted({0, begin_id} - {end_id})
        self._min_length = min_length
        self._ngrams = no_repeat_ngrams
        self._prefix = prefix

    @property
    def _asked(self) -> bool:
        """Whether more is barred than what always is."""
        return bool(self._min_length or self._ngrams or self._prefix is not None)

    def begin(self, batch: Any, beams: int) -> Any:
        """What must be known of the ids so far, before the first: `(batch, beams, 0)`, or `()`."""
        return ops.zeros((batch, beams, 0), dtype="int32") if self._ngrams else ()

    def extend(self, seen: Any, ids: Any) -> Any:
        """`seen`, with the ids `(active, beams)` of one more step."""
        return ops.concatenate([seen, ids[..., None]], -1) if self._ngrams else seen

    def bar(self, logits: Any, t: Any, active: Any, seen: Any) -> Any:
        """`logits`, minus infinity at the ids that are barred from step `t`.

        Args:
            logits: `(active, beams, vocabulary_size)`.
            t: The step, from 0.
            active: `(active,)`, the sentences' rows in the batch.
            seen: What `begin` and `extend` gave.
        """
        every_id = ops.arange(ops.shape(logits)[-1], dtype="int32")
        is_end = ops.equal(every_id, self._end_id)
        never = ops.convert_to_tensor(self._never, dtype="int32")
        barred = ops.any(ops.equal(every_id[:, None], never), axis=-1)
        if self._min_length:
            barred = ops.logical_or(barred, ops.logical_and(t + 1 < self._min_length, is_end))
        allowed = logits + ops.where(barred, NEVER, 0.0)
        if not self._asked:
            return allowed
        if self._ngrams:
            allowed = bar_ids(allowed, seen, _repeats(seen, self._ngrams))
        if self._prefix is not None:
            last = ops.shape(self._prefix)[1] - 1
            column = ops.take(self._prefix, ops.minimum(t, last), axis=1)
            forced = ops.take(column, active, axis=0)[:, None, None]
            alone = ops.where(ops.equal(every_id, forced), logits, NEVER)
            allowed = ops.where(ops.equal(forced, 0), allowed, alone)
        nothing_left = ops.equal(ops.max(allowed, axis=-1, keepdims=True), NEVER)
        return ops.where(ops.logical_and(nothing_left, is_end), logits, allowed)

    def likeliest(self, logits: Any, best: Any) -> Any:
        """The id of the largest of `logits`, barred or not.

        Args:
            logits: `(active, beams, vocabulary_size)`.
            best: `(active, beams)`, the likeliest id that is not barred.
        """
        if self._asked:
            return top_id(logits)
        # Where so few are barred, no second look at the whole vocabulary is needed.
        size = logits.shape[-1] or max(self._never, default=0) + 1
        ids = [best, *(ops.full_like(best, i) for i in self._never if i < size)]
        candidates = ops.stack(ids, axis=-1)
        return take_ids(candidates, top_id(take_ids(logits, candidates)))


def _repeats(seen: Any, size: int) -> Any:
    """Which of `seen (rows, beams, time)` would end an n-gram of `size` again, if they came now."""
    time = ops.shape(seen)[-1]
    # Id i stands behind window i, the `size - 1` before it. One that reaches out of the hypothesis
    # has more of the padding than the last window has, so it never equals that.
    padded = ops.pad(seen, [[0, 0], [0, 0], [size - 1, 0]], constant_values=-1)
    repeats = ops.ones_like(seen, dtype="bool")
    for place in range(size - 1):
        last = padded[..., time + place]
        same = ops.equal(padded[..., place : place + time], last[..., None])
        repeats = ops.logical_and(repeats, same)
    return repeats
