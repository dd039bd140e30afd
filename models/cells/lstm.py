"""Long short-term memory."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell


@keras.saving.register_keras_serializable(package="pairloom")
class LSTMCell(LoopCell, keras.layers.LSTMCell):
    """Keras's own LSTM cell, made fit for our loop.

    `i, f, o = sigmoid(W x + U h + b)`, `c' = f * c + i * tanh(W_c x + U_c h + b_c)`,
    `h' = o * tanh(c')`, Hochreiter and Schmidhuber (1997), forget bias 1.

    Args:
        units: Width of each of the two states, `h` and `c`.
    """

    def input_bias(self, dtype: str) -> Any:
        return ops.cast(self.bias, dtype)

    def stepper(self) -> Callable:
        def step(projected, states, multiply):
            h, c = states
            i, f, candidate, o = ops.split(projected + multiply("recurrent", h), 4, axis=-1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(candidate)
            h = ops.sigmoid(o) * ops.tanh(c)
            return h, [h, c]

        return step
