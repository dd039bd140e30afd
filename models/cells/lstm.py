"""Long short-term memory, whole and with a gate removed."""

from collections.abc import Callable
from typing import Any, Literal

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell

_GATES = ("input", "forget", "candidate", "output")


@keras.saving.register_keras_serializable(package="pairloom")
class LSTMCell(LoopCell, keras.layers.LSTMCell):
    """Keras's own LSTM cell, made fit for our loop.

    `i, f, o = sigmoid(W x + U h + b)`, `c' = f * c + i * tanh(W_c x + U_c h + b_c)`,
    `h' = o * tanh(c')`, Hochreiter and Schmidhuber (1997) with the forget gate of Gers et al.
    (2000). A gate that is removed is 1, as in Jozefowicz et al. (2015), and has no weights.

    Args:
        units: Width of each of the two states, `h` and `c`.
        forget_bias: What the forget gate's bias starts at.
        without_gate: `"input"`, `"forget"` or `"output"` (or its first letter): the gate to do
            without; None keeps all.
    """

    fixed = {
        "activation": keras.activations.tanh,
        "recurrent_activation": keras.activations.sigmoid,
        "use_bias": True,
        "dropout": 0.0,
        "recurrent_dropout": 0.0,
    }

    def __init__(
        self,
        units: int,
        forget_bias: float = 1.0,
        without_gate: Literal["input", "forget", "output", "i", "f", "o"] | None = None,
        **kwargs,
    ):
        removed = {"i": "input", "f": "forget", "o": "output"}.get(without_gate or "", without_gate)
        if removed not in (None, "input", "forget", "output"):
            raise ValueError(
                "`without_gate` must be 'input', 'forget', 'output' or None. "
                f"Received: without_gate={without_gate!r}."
            )
        if "unit_forget_bias" in kwargs:
            raise ValueError(
                "`LSTMCell` has no `unit_forget_bias`: say `forget_bias=1.0` or `forget_bias=0.0`. "
                f"Received: unit_forget_bias={kwargs['unit_forget_bias']!r}."
            )
        super().__init__(units, **kwargs)
        self.forget_bias = forget_bias
        self.without_gate = removed
        self.gates = [gate for gate in _GATES if gate != removed]

    @property
    def stock_layer(self) -> type[keras.layers.Layer] | None:
        return keras.layers.LSTM if self.without_gate is None else None

    def build(self, inputs_shape):
        width = len(self.gates) * self.units
        self.kernel = self.add_weight(
            shape=(inputs_shape[-1], width),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, width),
            initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
            name="recurrent_kernel",
        )
        self.bias = self.add_weight(
            shape=(width,),
            initializer=self._first_bias,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
            name="bias",
        )

    def _first_bias(self, shape, dtype=None):
        bias = self.bias_initializer(shape, dtype=dtype)
        if "forget" not in self.gates:
            return bias
        start = self.gates.index("forget") * self.units
        forget = ops.full((self.units,), self.forget_bias, dtype=bias.dtype)
        return ops.concatenate([bias[:start], forget, bias[start + self.units :]])

    def input_bias(self, dtype: str) -> Any:
        return ops.cast(self.bias, dtype)

    def stepper(self) -> Callable:
        def step(projected, states, multiply):
            h, c = states
            parts = ops.split(projected + multiply("recurrent", h), len(self.gates), axis=-1)
            part = dict(zip(self.gates, parts))
            new = ops.tanh(part["candidate"])
            new = ops.sigmoid(part["input"]) * new if "input" in part else new
            old = ops.sigmoid(part["forget"]) * c if "forget" in part else c
            c = old + new
            h = ops.tanh(c)
            h = ops.sigmoid(part["output"]) * h if "output" in part else h
            return h, [h, c]

        return step

    def get_config(self):
        config = super().get_config()
        config.pop("unit_forget_bias", None)
        ours = {"forget_bias": self.forget_bias, "without_gate": self.without_gate}
        return {**config, **ours}
