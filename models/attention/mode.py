"""What a decoder asks of any attention mode."""

from typing import Any

import keras


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

    def draw(self, shape) -> Any:
        """Noise `(time, batch, memory_time)` for a loop, whose steps must not draw."""
        raise NotImplementedError
