"""The score of a place, whatever stands there."""

import keras
from keras import ops

from pairloom.models.places import count_places
from pairloom.models.product import plain_products
from pairloom.models.scores.score import Score

# What a masked softmax gives to places where there is nothing.
_NEVER = -1e9


@keras.saving.register_keras_serializable(package="pairloom")
class LocationScore(Score):
    """Scores every memory position by its number alone: `score(q, .) = W q`.

    Luong et al. (2015), equation 9. A row of `W` is a place, so there is a last one: positions
    behind it are never attended to, as if the memory ended there. Places are counted where the
    mask is True, so that padding between the positions, or before them, changes nothing.

    Args:
        positions: How many places there are.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, and what every
            Keras layer takes.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`; only its length counts.
        keys: What `keys(memory)` gave: the memory itself.
        multiply: A loop's own product with what `kernels()` names; see `scan`.
        memory_mask: `(batch, memory_time)` or `(batch, query_time, memory_time)`, True where there
            is something; None: everywhere.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    # Whether the score must know the mask: an attention then asks `reach`, and calls with it.
    counts_places = True
    kinds = {"kernel": "glorot_uniform"}

    def __init__(self, positions: int = 200, **kwargs):
        super().__init__(**kwargs)
        if positions < 1:
            raise ValueError(f"`positions` must be at least 1. Received: positions={positions}.")
        self.positions = positions

    def build(self, query_shape, memory_shape, keys_shape=None, memory_mask_shape=None):
        self.kernel = self.add("kernel", (query_shape[-1], self.positions))

    def kernels(self):
        """The matrices that meet every query, by name."""
        return {"query": self.kernel}

    def reach(self, memory, memory_mask=None):
        """`memory_mask`, False behind the last place: `(batch, memory_time)`."""
        if memory_mask is None:
            memory_mask = ops.ones_like(memory[..., 0], dtype="bool")
        return ops.logical_and(memory_mask, count_places(memory_mask) < self.positions)

    def call(self, query, memory, keys=None, multiply=None, memory_mask=None):
        multiply = multiply or plain_products(self.kernels())
        scores = multiply("query", query)
        time = ops.shape(memory)[1]
        # Padded by as much as the memory is long, then cut to its length: fits any two lengths.
        beyond = ops.full((*ops.shape(query)[:2], time), _floor(scores.dtype), dtype=scores.dtype)
        scores = ops.concatenate([scores, beyond], -1)
        if memory_mask is None:
            return scores[:, :, :time]
        places = ops.cast(ops.maximum(count_places(memory_mask), 0.0), "int32")
        places = places if len(places.shape) == 3 else places[:, None]
        return ops.take_along_axis(
            scores, ops.broadcast_to(places, (*ops.shape(query)[:2], time)), axis=-1
        )

    def get_config(self):
        return {**super().get_config(), "positions": self.positions}


def _floor(dtype: str) -> float:
    return -6e4 if keras.backend.standardize_dtype(dtype) == "float16" else _NEVER
