"""What a hypothesis must hold to, whatever the decoder prefers."""

from typing import Any

import tensorflow as tf

from pairloom.models.search.hypotheses import NEVER
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
        max_length: int | tf.Tensor | None = None,
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
            prefix = tf.cast(prefix, tf.int32)
            if prefix.shape.rank != 2:
                raise ValueError(
                    f"`prefix` must be `(batch, prefix_time)`. Received: shape={prefix.shape}."
                )
            # The last column, which forces nothing, stands for every step behind the prefix.
            prefix = tf.pad(prefix, [[0, 0], [0, 1]])
        self._end_id = end_id
        self._never = sorted({0, begin_id} - {end_id})
        self._min_length = min_length
        self._ngrams = no_repeat_ngrams
        self._prefix = prefix

    @property
    def _asked(self) -> bool:
        """Whether more is barred than what always is."""
        return bool(self._min_length or self._ngrams or self._prefix is not None)

    def begin(self, batch: tf.Tensor, beams: int) -> Any:
        """What must be known of the ids so far, before the first: `(batch, beams, 0)`, or `()`."""
        return tf.zeros([batch, beams, 0], tf.int32) if self._ngrams else ()

    def extend(self, seen: Any, ids: tf.Tensor) -> Any:
        """`seen`, with the ids `(active, beams)` of one more step."""
        return tf.concat([seen, ids[..., None]], -1) if self._ngrams else seen

    def bar(self, logits: tf.Tensor, t: tf.Tensor, active: tf.Tensor, seen: Any) -> tf.Tensor:
        """`logits`, minus infinity at the ids that are barred from step `t`.

        Args:
            logits: `(active, beams, vocabulary_size)`.
            t: The step, from 0.
            active: `(active,)`, the sentences' rows in the batch.
            seen: What `begin` and `extend` gave.
        """
        every_id = tf.range(tf.shape(logits)[-1])
        is_end = tf.equal(every_id, self._end_id)
        barred = tf.reduce_any(tf.equal(every_id[:, None], self._never), -1)
        if self._min_length:
            barred |= (t + 1 < self._min_length) & is_end
        allowed = logits + tf.where(barred, NEVER, 0.0)
        if not self._asked:
            return allowed
        if self._ngrams:
            allowed = _bar_repeats(allowed, seen, self._ngrams)
        if self._prefix is not None:
            column = self._prefix[:, tf.minimum(t, tf.shape(self._prefix)[1] - 1)]
            forced = tf.gather(column, active)[:, None, None]
            alone = tf.where(tf.equal(every_id, forced), logits, NEVER)
            allowed = tf.where(tf.equal(forced, 0), allowed, alone)
        nothing_left = tf.equal(tf.reduce_max(allowed, -1, keepdims=True), NEVER)
        return tf.where(nothing_left & is_end, logits, allowed)

    def likeliest(self, logits: tf.Tensor, best: tf.Tensor) -> tf.Tensor:
        """The id of the largest of `logits`, barred or not.

        Args:
            logits: `(active, beams, vocabulary_size)`.
            best: `(active, beams)`, the likeliest id that is not barred.
        """
        if self._asked:
            return top_id(logits)
        # Where so few are barred, no second look at the whole vocabulary is needed.
        size = logits.shape[-1] or max(self._never, default=0) + 1
        ids = [best, *(tf.fill(tf.shape(best), i) for i in self._never if i < size)]
        candidates = tf.stack(ids, -1)
        return tf.gather(
            candidates, top_id(tf.gather(logits, candidates, batch_dims=2)), batch_dims=2
        )


def _bar_repeats(logits: tf.Tensor, seen: tf.Tensor, size: int) -> tf.Tensor:
    """Bars what would end an n-gram of `size` that is in `seen (rows, beams, time)` already."""
    time = tf.shape(seen)[-1]
    # Id i stands behind window i, the `size - 1` before it. One that reaches out of the hypothesis
    # has more of the padding than the last window has, so it never equals that.
    padded = tf.pad(seen, [[0, 0], [0, 0], [size - 1, 0]], constant_values=-1)
    repeats = tf.ones_like(seen, tf.bool)
    for place in range(size - 1):
        last = padded[..., time + place]
        repeats &= tf.equal(padded[..., place : place + time], last[..., None])
    where = tf.where(repeats)
    ids = tf.cast(tf.gather_nd(seen, where), where.dtype)
    barred = tf.concat([where[:, :2], ids[:, None]], 1)
    return tf.tensor_scatter_nd_update(logits, barred, tf.fill([tf.shape(barred)[0]], NEVER))
