"""The Transformer's score, with one head."""

import keras
from keras import ops

from pairloom.models.product import plain_products, product
from pairloom.models.scores.score import Score


@keras.saving.register_keras_serializable(package="pairloom")
class ScaledDotScore(Score):
    """Scores every memory position with a dot product in a space of its own.

    `score(q, m) = (W m) . (U q) / sqrt(units)`, Vaswani et al. (2017), equation 1.

    Args:
        units: Width of the space in which the two meet.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, and what every
            Keras layer takes.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        keys: What `keys(memory)` gave; made anew when not given.
        multiply: A loop's own product with what `kernels()` names; see `scan`.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    kinds = {"kernel": "glorot_uniform"}

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units

    def build(self, query_shape, memory_shape, keys_shape=None):
        self.query_kernel = self.add("query_kernel", (query_shape[-1], self.units))
        self.memory_kernel = self.add("memory_kernel", (memory_shape[-1], self.units))

    def keys(self, memory):
        """The part `W m / sqrt(units)` that no query changes: `(batch, memory_time, units)`."""
        return product(memory, self.memory_kernel) / self.units**0.5

    def kernels(self):
        """The matrices that meet every query, by name."""
        return {"query": self.query_kernel}

    def call(self, query, memory, keys=None, multiply=None):
        keys = self.keys(memory) if keys is None else keys
        multiply = multiply or plain_products(self.kernels())
        return ops.matmul(multiply("query", query), ops.swapaxes(keys, 1, 2))

    def get_config(self):
        return {**super().get_config(), "units": self.units}
