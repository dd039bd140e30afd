"""Long short-term memory, with its input product apart from its step."""

from collections.abc import Callable

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class LSTMCell(keras.layers.LSTMCell):
    """Keras's own LSTM cell, which a loop can run without its input product.

    `i, f, o = sigmoid(W x + U h + b)`, `c' = f * c + i * tanh(W_c x + U_c h + b_c)`,
    `h' = o * tanh(c')`, Hochreiter and Schmidhuber (1997), forget bias 1.

    `cell(inputs, states)` works in `keras.layers.RNN` as always. A loop over time calls
    `projector` once for all steps and `stepper` at each of them: the same, and faster.

    Args:
        units: Width of each of the two states.
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
            A function of inputs `(..., width)` that gives `(..., 4 * units)`.
        """
        kernel = self.kernel[start : start + width]
        if start:
            return lambda inputs: product(inputs, kernel)
        bias = self.bias
        return lambda inputs: product(inputs, kernel) + ops.cast(bias, inputs.dtype)

    def stepper(self) -> Callable:
        """The step as a function that reads the weights now, once for a whole loop.

        `step(projected (batch, 4 * units), [h, c]) -> (h, [h, c])`, each `(batch, units)`.
        """
        kernel = ops.convert_to_tensor(self.recurrent_kernel)

        def step(projected, states):
            h, c = states
            i, f, candidate, o = ops.split(projected + product(h, kernel), 4, axis=-1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(candidate)
            h = ops.sigmoid(o) * ops.tanh(c)
            return h, [h, c]

        return step
