"""The gated recurrent unit, with its input product apart from its step."""

from collections.abc import Callable

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class GRUCell(keras.layers.GRUCell):
    """Keras's own GRU cell, which a loop can run without its input product.

    `z = sigmoid(W_z x + U_z h)`, `r = sigmoid(W_r x + U_r h)`,
    `h' = z * h + (1 - z) * tanh(W x + r * (U h))`, Cho et al. (2014), with a bias in each product.

    `cell(inputs, states)` works in `keras.layers.RNN` as always. A loop over time calls
    `projector` once for all steps and `stepper` at each of them: the same, and faster.

    Args:
        units: Width of the state.
    """

    def __init__(self, units: int, **kwargs):
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        super().__init__(units, **kwargs)

    def projector(self, start: int, width: int) -> Callable:
        """The input product with `width` of the kernel's rows, from `start` on.

        Inputs that are known before a loop and those that arise in it share one kernel; the bias
        belongs to the rows from 0 on.

        Returns:
            A function of inputs `(..., width)` that gives `(..., 3 * units)`.
        """
        kernel = self.kernel[start : start + width]
        if start:
            return lambda inputs: product(inputs, kernel)
        bias = self.bias[0]
        return lambda inputs: product(inputs, kernel) + ops.cast(bias, inputs.dtype)

    def stepper(self) -> Callable:
        """The step as a function that reads the weights now, once for a whole loop.

        `step(projected (batch, 3 * units), [h]) -> (h, [h])`, h being `(batch, units)`.
        """
        kernel = ops.convert_to_tensor(self.recurrent_kernel)
        bias = self.bias[1]

        def step(projected, states):
            (h,) = states
            inner = product(h, kernel) + ops.cast(bias, h.dtype)
            gates = ops.sigmoid(projected[:, : 2 * self.units] + inner[:, : 2 * self.units])
            z, r = ops.split(gates, 2, axis=-1)
            candidate = ops.tanh(projected[:, 2 * self.units :] + r * inner[:, 2 * self.units :])
            h = candidate + z * (h - candidate)
            return h, [h]

        return step
