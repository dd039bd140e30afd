"""Long short-term memory, with its input product apart from its step."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class LSTMCell(keras.layers.LSTMCell):
    """Keras's own LSTM cell, which a loop can run without its input product.

    `i, f, o = sigmoid(W x + U h + b)`, `c' = f * c + i * tanh(W_c x + U_c h + b_c)`,
    `h' = o * tanh(c')`, Hochreiter and Schmidhuber (1997), forget bias 1.

    `cell(inputs, states)` works in `keras.layers.RNN` as always. A loop over time calls
    `project` once for all steps and what `stepper` gives at each of them: the same, and faster.

    Args:
        units: Width of each of the two states.
    """

    def __init__(self, units: int, **kwargs):
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        super().__init__(units, **kwargs)

    def project(self, inputs):
        """The input product of inputs `(..., width)` and the bias: `(..., 4 * units)`.

        A width short of the cell's takes the kernel's first rows; what arises in the loop and
        meets the others there is the caller's to multiply and to add.
        """
        return product(inputs, self.kernel[: inputs.shape[-1]]) + self.input_bias(inputs.dtype)

    def input_bias(self, dtype: str):
        """What is added to every input product: `(4 * units,)`."""
        return ops.cast(self.bias, dtype)

    def kernels(self) -> dict[str, Any]:
        """The matrices of the step, as `scan` takes them."""
        return {"recurrent": self.recurrent_kernel}

    def stepper(self) -> Callable:
        """The step as a function that reads the weights now, once for a whole loop.

        `step(projected (batch, 4 * units), [h, c], multiply) -> (h, [h, c])`, each
        `(batch, units)`.
        """

        def step(projected, states, multiply):
            h, c = states
            i, f, candidate, o = ops.split(projected + multiply("recurrent", h), 4, axis=-1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(candidate)
            h = ops.sigmoid(o) * ops.tanh(c)
            return h, [h, c]

        return step
