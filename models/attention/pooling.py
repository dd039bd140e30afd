"""Attention that needs no query."""

from typing import Any

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.product import product
from pairloom.models.weighted import Weighted


@keras.saving.register_keras_serializable(package="pairloom")
class AttentionPooling(Weighted):
    """Makes one vector of many, each with the weight it has learned to deserve.

    `u_j = tanh(W h_j + b)`, `a = softmax_j(u_j . u_w)`, `s = sum_j a_j h_j`: Yang et al. (2016),
    equations 5 to 7, where `u_w` is one learned vector that stands for a query.

    Args:
        units: Width of `u_j` and `u_w`.
        use_bias: Whether there is a `b`.
        return_attention_scores: Whether the weights come back too; a `keras.Sequential` wants the
            context alone.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of
            `bias_` and `query_`, and what every Keras layer takes.

    Call arguments:
        memory: `(batch, ..., time, memory_units)`, with any axes between.
        memory_mask: `(..., time)`, True where there is something.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        `(context, weights)`: `(..., memory_units)` and `(..., time)`. A row with nothing to attend
        to gets zeros.
    """

    kinds = {"kernel": "glorot_uniform", "bias": "zeros", "query": "glorot_uniform"}

    def __init__(
        self,
        units: int,
        *,
        use_bias: bool = True,
        return_attention_scores: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units
        self.use_bias = use_bias
        self.return_attention_scores = return_attention_scores

    def build(self, memory_shape, memory_mask_shape=None, mask_shape=None):
        if len(memory_shape) < 3:
            raise ValueError(
                "`memory` must have at least three axes, (batch, time, units); with two, the batch "
                f"would be pooled. Received: memory {tuple(memory_shape)}."
            )
        self.kernel = self.add("kernel", (memory_shape[-1], self.units))
        self.bias: Any = self.add("bias", (self.units,), "bias") if self.use_bias else None
        self.query = self.add("query", (self.units, 1), "query")

    def call(self, memory, memory_mask=None, mask=None):
        memory_mask = mask if memory_mask is None else memory_mask
        hidden = ops.tanh(product(memory, self.kernel, self.bias))
        scores = ops.squeeze(product(hidden, self.query), -1)
        weights = masked_softmax(scores, memory_mask)
        context = ops.squeeze(ops.matmul(ops.expand_dims(weights, -2), memory), -2)
        return (context, weights) if self.return_attention_scores else context

    def compute_mask(self, memory, previous_mask=None):
        """The one vector is always there."""
        return None

    def compute_output_shape(self, memory_shape, memory_mask_shape=None, mask_shape=None):
        context = (*memory_shape[:-2], memory_shape[-1])
        return (context, tuple(memory_shape[:-1])) if self.return_attention_scores else context

    def get_config(self):
        own = {
            "units": self.units,
            "use_bias": self.use_bias,
            "return_attention_scores": self.return_attention_scores,
        }
        return {**super().get_config(), **own}
