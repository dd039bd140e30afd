"""The plain recurrent cell."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell


@keras.saving.register_keras_serializable(package="pairloom")
class SimpleCell(LoopCell, keras.layers.SimpleRNNCell):
    """Keras's own simple cell, made fit for our loop.

    `h' = activation(W x + U h + b)`, Elman (1990).

    Args:
        units: Width of the state.
        activation: `"tanh"` or `"sigmoid"`, or any other that Keras knows.
    """

    fixed = {"use_bias": True, "dropout": 0.0, "recurrent_dropout": 0.0}

    def input_bias(self, dtype: str) -> Any:
        return ops.cast(self.bias, dtype)

    def stepper(self) -> Callable:
        def step(projected, states, multiply):
            h = self.activation(projected + multiply("recurrent", states[0]))
            return h, [h]

        return step
