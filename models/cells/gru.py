"""The gated recurrent unit."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell


@keras.saving.register_keras_serializable(package="pairloom")
class GRUCell(LoopCell, keras.layers.GRUCell):
    """Keras's own GRU cell, made fit for our loop.

    `z = sigmoid(W_z x + U_z h)`, `r = sigmoid(W_r x + U_r h)`,
    `h' = z * h + (1 - z) * tanh(W x + r * (U h))`, Cho et al. (2014), with a bias in each product.

    Args:
        units: Width of the state.
    """

    def input_bias(self, dtype: str) -> Any:
        return ops.cast(self.bias[0], dtype)

    def stepper(self) -> Callable:
        bias = ops.cast(self.bias[1], self.compute_dtype)

        def step(projected, states, multiply):
            (h,) = states
            inner = multiply("recurrent", h) + bias
            # Split, not sliced: the gradient of a slice fills a whole matrix with zeros first.
            x_gates, x = ops.split(projected, [2 * self.units], axis=-1)
            h_gates, u = ops.split(inner, [2 * self.units], axis=-1)
            z, r = ops.split(ops.sigmoid(x_gates + h_gates), 2, axis=-1)
            candidate = ops.tanh(x + r * u)
            h = candidate + z * (h - candidate)
            return h, [h]

        return step
