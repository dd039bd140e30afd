"""The gated recurrent unit, with its input product apart from its step."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class GRUCell(keras.layers.GRUCell):
    """Keras's own GRU cell, which a loop can run without its input product.

    `z = sigmoid(W_z x + U_z h)`, `r = sigmoid(W_r x + U_r h)`,
    `h' = z * h + (1 - z) * tanh(W x + r * (U h))`, Cho et al. (2014), with a bias in each product.

    `cell(inputs, states)` works in `keras.layers.RNN` as always. A loop over time calls
    `project` once for all steps and what `stepper` gives at each of them: the same, and faster.

    Args:
        units: Width of the state.
    """

    def __init__(self, units: int, **kwargs):
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        super().__init__(units, **kwargs)

    def project(self, inputs):
        """The input product of inputs `(..., width)` and the bias: `(..., 3 * units)`.

        A width short of the cell's takes the kernel's first rows; what arises in the loop and
        meets the others there is the caller's to multiply and to add.
        """
        return product(inputs, self.kernel[: inputs.shape[-1]]) + self.input_bias(inputs.dtype)

    def input_bias(self, dtype: str):
        """What is added to every input product: `(3 * units,)`."""
        return ops.cast(self.bias[0], dtype)

    def kernels(self) -> dict[str, Any]:
        """The matrices of the step, as `scan` takes them."""
        return {"recurrent": self.recurrent_kernel}

    def stepper(self) -> Callable:
        """The step as a function that reads the weights now, once for a whole loop.

        `step(projected (batch, 3 * units), [h], multiply) -> (h, [h])`, h being `(batch, units)`.
        """
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
