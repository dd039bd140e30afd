"""Bahdanau's score."""

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class AdditiveScore(keras.layers.Layer):
    """Scores every memory position with Bahdanau's small network.

    `score(q, m) = v . tanh(W q + U m)`, Bahdanau et al. (2015), A.1.2.

    Args:
        units: Width of the hidden layer.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        keys: What `keys(memory)` gave; made anew when not given.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units

    def build(self, query_shape, memory_shape, keys_shape=None):
        glorot = "glorot_uniform"
        self.query_kernel = self.add_weight(
            shape=(query_shape[-1], self.units), initializer=glorot, name="query_kernel"
        )
        self.memory_kernel = self.add_weight(
            shape=(memory_shape[-1], self.units), initializer=glorot, name="memory_kernel"
        )
        self.v = self.add_weight(shape=(self.units,), initializer=_vector_like_glorot, name="v")

    def keys(self, memory):
        """The part `U m` that no query changes: `(batch, memory_time, units)`."""
        return product(memory, self.memory_kernel)

    def call(self, query, memory, keys=None):
        keys = self.keys(memory) if keys is None else keys
        query = product(query, self.query_kernel)
        hidden = ops.tanh(keys[:, None] + query[:, :, None])
        return ops.squeeze(product(hidden, self.v[:, None]), -1)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable(package="pairloom")
def _vector_like_glorot(shape, dtype=None):
    return keras.initializers.RandomUniform(-((3.0 / shape[0]) ** 0.5), (3.0 / shape[0]) ** 0.5)(
        shape, dtype=dtype
    )
