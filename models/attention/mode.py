"""What a decoder, and who knows Keras's own attention, asks of any attention mode."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import keras
from keras import ops

from pairloom.models.memory import fits, shape_of
from pairloom.models.weighted import Weighted


class Asked(NamedTuple):
    """What an attention is called with, in whichever form.

    Attributes:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`, what the query is compared with.
        value: What the context is made of, as long as the memory; None: the memory.
        query_mask: `(batch, query_time)`; None: everywhere.
        memory_mask: `(batch, memory_time)` or `(batch, query_time, memory_time)`; None: everywhere.
        alone: Whether the context comes back without the weights, unless the call says.
    """

    query: Any
    memory: Any
    value: Any = None
    query_mask: Any = None
    memory_mask: Any = None
    alone: bool = False


class AttentionMode(Weighted):
    """An attention layer that a loop over time can use.

    A subclass is called `attention(query, memory, memory_mask=None, keys=None, multiply=None)` and
    returns `(context, weights)`; it has `keys(memory)`, what no query changes, and
    `kernels(memory)`, what queries and weights are multiplied with, by name.

    It is also called as Keras's own attention layers are: `attention([query, value])` or
    `attention([query, value, key])`, with a `mask` of two, gives the context alone, zeros where the
    query is masked, and with `return_attention_scores=True` the weights too.

    Args:
        dropout: Share of the weights that is dropped from the context in training.
    """

    kinds: ClassVar[dict[str, Any]] = {}

    # Whether the weights depend on the query's position: the call then takes `position`.
    follows_time = False
    # Whether training draws: the call then takes `noise` and `training`.
    draws = False

    def __init__(self, *, dropout: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(
                f"`dropout` must be at least 0 and below 1. Received: dropout={dropout}."
            )
        self.dropout = dropout
        self.drop: Any = keras.layers.Dropout(dropout, dtype=self.dtype_policy) if dropout else None

    def asked(self, query, memory, value, memory_mask, mask) -> Asked:
        """A call's arguments, in our form or in Keras's."""
        if not isinstance(query, list | tuple):
            if memory is None:
                raise ValueError(
                    f"Expected `(query, memory)` or `[query, value]`. Received: one tensor of "
                    f"shape {tuple(query.shape)}."
                )
            return Asked(query, memory, value, None, memory_mask)
        if not 2 <= len(query) <= 3:
            raise ValueError(
                "Expected `[query, value]` or `[query, value, key]`. "
                f"Received: {len(query)} tensors."
            )
        asks, value, *key = query
        query_mask, value_mask, *_ = mask if isinstance(mask, list | tuple) else (None, None)
        seen = value_mask if memory_mask is None else memory_mask
        return Asked(asks, key[0] if key else value, value, query_mask, seen, alone=True)

    def answered(self, asked: Asked, context, weights, return_attention_scores: bool | None):
        """What a call gives back."""
        if asked.query_mask is not None:
            context = context * ops.cast(asked.query_mask, context.dtype)[..., None]
        alone = asked.alone if return_attention_scores is None else not return_attention_scores
        return context if alone else (context, weights)

    def pair_of_shapes(self, query_shape, memory_shape) -> tuple[Any, Any, Any]:
        """The shapes of query, memory and value, of a call in either form.

        Refuses two axes: the batch would be taken for time, and the result be wrong.
        """
        value_shape = memory_shape
        if isinstance(query_shape[0], Sequence):
            query_shape, value_shape, *key_shape = query_shape
            memory_shape = key_shape[0] if key_shape else value_shape
        if len(query_shape) != 3 or len(memory_shape) != 3:
            raise ValueError(
                "Query and memory must have three axes, (batch, time, units); one query is "
                f"(batch, 1, units). Received: query {tuple(query_shape)}, "
                f"memory {tuple(memory_shape)}."
            )
        return query_shape, memory_shape, value_shape

    def check_mask(self, query, memory, memory_mask) -> None:
        """Refuses a mask that would be broadcast to something else than what was meant."""
        shape, wanted = shape_of(memory_mask), shape_of(memory)
        if memory_mask is None or shape is None or wanted is None or fits(shape, wanted[:2]):
            return
        asks = shape_of(query)
        if asks is None or fits(shape, (wanted[0], asks[1], wanted[1])):
            return
        raise ValueError(
            "`memory_mask` must be `(batch, memory_time)`, one for all queries, or "
            "`(batch, query_time, memory_time)`. "
            f"Received: memory_mask {shape}, memory {wanted}."
        )

    def compute_mask(self, query, previous_mask=None):
        """A context for every query: what was padding stays padding."""
        return previous_mask[0] if isinstance(previous_mask, list | tuple) else previous_mask

    def compute_output_shape(self, query_shape, memory_shape=None, *others, **other_shapes):
        alone = isinstance(query_shape[0], Sequence)
        query_shape, memory_shape, value_shape = self.pair_of_shapes(query_shape, memory_shape)
        context = (*query_shape[:2], self.context_units(value_shape[-1]))
        return context if alone else (context, (*query_shape[:2], memory_shape[1]))

    def compute_output_spec(self, *args, **kwargs):
        # What comes back hangs on the call's arguments, of which a shape tells nothing.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def context_units(self, value_units: int) -> int:
        """Width of the context."""
        return value_units

    def draw(self, shape) -> Any:
        """Noise `(time, batch, memory_time)` for a loop, whose steps must not draw."""
        raise NotImplementedError

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout}


def attended(memory_mask, queries: Any, places: Any, causal: bool) -> Any:
    """Where queries may look, broadcast to `(batch, query_time, memory_time)`; None: everywhere.

    The last query's place is the memory's last, so that queries may also be the newest part of a
    longer memory.
    """
    mask = memory_mask
    if mask is not None and len(mask.shape) == 2:
        mask = mask[:, None, :]
    # The only query is the last, which sees all there is.
    if not causal or (isinstance(queries, int) and queries == 1):
        return mask
    own = ops.arange(queries)[:, None] + (places - queries)
    seen = (ops.arange(places)[None, :] <= own)[None]
    return seen if mask is None else ops.logical_and(mask, seen)
