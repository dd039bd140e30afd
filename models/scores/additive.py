"""Bahdanau's score."""

import keras
from keras import ops

from pairloom.models.product import plain_products, product
from pairloom.models.scores.score import Score
from pairloom.models.written_gradient import written_gradient


@keras.saving.register_keras_serializable(package="pairloom")
def _vector_like_glorot(shape, dtype=None):
    return keras.initializers.RandomUniform(-((3.0 / shape[0]) ** 0.5), (3.0 / shape[0]) ** 0.5)(
        shape, dtype=dtype
    )


@keras.saving.register_keras_serializable(package="pairloom")
class AdditiveScore(Score):
    """Scores every memory position with Bahdanau's small network.

    `score(q, m) = v . tanh(W q + U m)`, Bahdanau et al. (2015), A.1.2; with a bias, `+ b` inside.

    Args:
        units: Width of the hidden layer.
        use_bias: Whether a bias is added to the products.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of
            `bias_` and `vector_` (of `v`), and what every Keras
            layer takes.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        keys: What `keys(memory)` gave; made anew when not given.
        multiply: A loop's own product with what `kernels()` names; see `scan`.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    kinds = {"kernel": "glorot_uniform", "bias": "zeros", "vector": _vector_like_glorot}

    def __init__(self, units: int, *, use_bias: bool = False, **kwargs):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units
        self.use_bias = use_bias

    def build(self, query_shape, memory_shape, keys_shape=None):
        self.query_kernel = self.add("query_kernel", (query_shape[-1], self.units))
        self.memory_kernel = self.add("memory_kernel", (memory_shape[-1], self.units))
        self.v = self.add("v", (self.units,), "vector")
        self.bias = self.add("bias", (self.units,), "bias") if self.use_bias else None

    def keys(self, memory):
        """The part `U m + b` that no query changes: `(batch, memory_time, units)`."""
        return product(memory, self.memory_kernel, self.bias)

    def kernels(self):
        """The matrices that meet every query, by name."""
        return {"query": self.query_kernel}

    def call(self, query, memory, keys=None, multiply=None):
        keys = self.keys(memory) if keys is None else keys
        multiply = multiply or plain_products(self.kernels())
        query = multiply("query", query)
        hidden = ops.tanh(_every_pair(query, keys))
        return ops.squeeze(product(hidden, ops.expand_dims(self.v, -1)), -1)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "use_bias": self.use_bias}


@written_gradient
def _every_pair(query, keys):
    """`query + keys` of `(batch, queries, units)` and `(batch, time, units)`, each with each.

    The gradient is written out because in a loop TensorFlow's own finds out anew at every step
    which of the unknown shapes were broadcast.
    """

    def gradient(upstream):
        one_query = query.shape[1] == 1
        by_keys = ops.squeeze(upstream, 1) if one_query else ops.sum(upstream, 1)
        return ops.sum(upstream, 2), by_keys

    return ops.expand_dims(query, 2) + ops.expand_dims(keys, 1), gradient
