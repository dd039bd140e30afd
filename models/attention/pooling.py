"""Attention that needs no query."""

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class AttentionPooling(keras.layers.Layer):
    """Makes one vector of many, each with the weight it has learned to deserve.

    `u_j = tanh(W h_j + b)`, `a = softmax_j(u_j . u_w)`, `s = sum_j a_j h_j`: Yang et al. (2016),
    equations 5 to 7, where `u_w` is one learned vector that stands for a query.

    Args:
        units: Width of `u_j` and `u_w`.

    Call arguments:
        memory: `(batch, ..., time, memory_units)`, with any axes between.
        memory_mask: `(..., time)`, True where there is something.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        `(context, weights)`: `(..., memory_units)` and `(..., time)`. A row with nothing to attend
        to gets zeros.
    """

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units

    def build(self, memory_shape, memory_mask_shape=None, mask_shape=None):
        if len(memory_shape) < 3:
            raise ValueError(
                "`memory` must have at least three axes, (batch, time, units); with two, the batch "
                f"would be pooled. Received: memory {tuple(memory_shape)}."
            )
        self.kernel = self.add_weight(
            shape=(memory_shape[-1], self.units), initializer="glorot_uniform", name="kernel"
        )
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.query = self.add_weight(
            shape=(self.units, 1), initializer="glorot_uniform", name="query"
        )

    def call(self, memory, memory_mask=None, mask=None):
        memory_mask = mask if memory_mask is None else memory_mask
        hidden = ops.tanh(product(memory, self.kernel, self.bias))
        scores = ops.squeeze(product(hidden, self.query), -1)
        weights = masked_softmax(scores, memory_mask)
        context = ops.squeeze(ops.matmul(ops.expand_dims(weights, -2), memory), -2)
        return context, weights

    def compute_mask(self, memory, previous_mask=None):
        """The one vector is always there."""
        return None

    def compute_output_shape(self, memory_shape, memory_mask_shape=None, mask_shape=None):
        return (*memory_shape[:-2], memory_shape[-1]), tuple(memory_shape[:-1])

    def get_config(self):
        return {**super().get_config(), "units": self.units}
