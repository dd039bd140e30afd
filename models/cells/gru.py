"""The gated recurrent unit."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell
from pairloom.models.written_gradient import written_gradient


@keras.saving.register_keras_serializable(package="pairloom")
class GRUCell(LoopCell, keras.layers.GRUCell):
    """Keras's own GRU cell, made fit for our loop.

    `z = sigmoid(W_z x + U_z h)`, `r = sigmoid(W_r x + U_r h)`,
    `h' = z * h + (1 - z) * tanh(W x + r * (U h))`, with a bias in each product. Cho et al. (2014)
    have `U (r * h)`; to reset after the product is Keras's `reset_after`, which GPU kernels run.

    Args:
        units: Width of the state.
    """

    fixed = {
        "activation": keras.activations.tanh,
        "recurrent_activation": keras.activations.sigmoid,
        "use_bias": True,
        "reset_after": True,
        "dropout": 0.0,
        "recurrent_dropout": 0.0,
    }

    @property
    def stock_layer(self) -> type[keras.layers.Layer]:
        return keras.layers.GRU

    def input_bias(self, dtype: str) -> Any:
        return ops.cast(self.bias[0], dtype)

    def stepper(self) -> Callable:
        bias = ops.cast(self.bias[1], self.compute_dtype)

        def step(projected, states, multiply):
            (h,) = states
            h = _next_state(projected, multiply("recurrent", h), bias, h)
            return h, [h]

        return step


@written_gradient
def _next_state(projected, recurrent, bias, h):
    """`h'` from `W x (batch, 3 units)`, `U h (batch, 3 units)`, its bias and `h (batch, units)`.

    The gradient is written out because the one that TensorFlow derives asks anew at every step of a
    loop, for every sum, which of the unknown shapes were broadcast.
    """
    units = h.shape[-1]
    recurrent = recurrent + bias
    x_gates, x = ops.split(projected, [2 * units], axis=-1)
    h_gates, u = ops.split(recurrent, [2 * units], axis=-1)
    gates = ops.sigmoid(x_gates + h_gates)
    z, r = ops.split(gates, 2, axis=-1)
    candidate = ops.tanh(x + r * u)
    kept = h - candidate

    def gradient(upstream):
        by_x = (upstream - upstream * z) * (1.0 - candidate * candidate)
        by_gates = ops.concatenate([upstream * kept, by_x * u], -1) * gates * (1.0 - gates)
        by_recurrent = ops.concatenate([by_gates, by_x * r], -1)
        by_projected = ops.concatenate([by_gates, by_x], -1)
        return by_projected, by_recurrent, ops.sum(by_recurrent, 0), upstream * z

    return candidate + z * kept, gradient
