"""What a decoder asks of any attention mode."""

from typing import Any

import keras

from pairloom.models.memory import fits, shape_of


class AttentionMode(keras.layers.Layer):
    """An attention layer that a loop over time can use.

    A subclass is called `attention(query, memory, memory_mask=None, keys=None, multiply=None)` and
    returns `(context, weights)`; it has `keys(memory)`, what no query changes, and
    `kernels(memory)`, what queries and weights are multiplied with, by name.
    """

    # Whether the weights depend on the query's position: the call then takes `position`.
    follows_time = False
    # Whether training draws: the call then takes `noise` and `training`.
    draws = False

    def check_axes(self, query_shape, memory_shape) -> None:
        """Refuses two axes: the batch would be taken for time, and the result be wrong."""
        if len(query_shape) != 3 or len(memory_shape) != 3:
            raise ValueError(
                "Query and memory must have three axes, (batch, time, units); one query is "
                f"(batch, 1, units). Received: query {tuple(query_shape)}, "
                f"memory {tuple(memory_shape)}."
            )

    def check_mask(self, memory, memory_mask) -> None:
        """Refuses a mask that would be broadcast to something else than what was meant."""
        shape, wanted = shape_of(memory_mask), shape_of(memory)
        if memory_mask is None or shape is None or wanted is None or fits(shape, wanted[:2]):
            return
        raise ValueError(
            "`memory_mask` must be `(batch, memory_time)`, one for all queries. "
            f"Received: memory_mask {shape}, memory {wanted}."
        )

    def compute_mask(self, query, previous_mask=None):
        """A context for every query: what was padding stays padding."""
        return previous_mask

    def draw(self, shape) -> Any:
        """Noise `(time, batch, memory_time)` for a loop, whose steps must not draw."""
        raise NotImplementedError
