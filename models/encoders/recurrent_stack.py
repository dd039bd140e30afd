"""Recurrent layers, one upon the other."""

from typing import Any

import keras
from keras import ops

from pairloom.models.cells import make_cell
from pairloom.models.recurrence.layer import Recurrence, state_sizes


@keras.saving.register_keras_serializable(package="pairloom")
class RecurrentStack(keras.layers.Layer):
    """Runs recurrent layers over a sequence of vectors, each over what the one before gave.

    Args:
        units: Width of the states; with two directions each has half of it.
        cell: The cell's name, such as `"gru"`.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every layer reads both ways.
        dropout: Share of input and state entries dropped in training.

    Call arguments:
        inputs: `(batch, time, width)`.
        inputs_mask: `(batch, time)`, True where there is something; a row may have nothing.

    Returns:
        `(outputs, summary, last)`: `(batch, time, units)` with zeros where masked; the last
        layer's last states, all side by side, `(batch, summary_units)`; and of those the ones that
        are outputs too, `(batch, units)`. A row with nothing gets zeros.
    """

    def __init__(
        self,
        units: int,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if layers < 1:
            raise ValueError(f"`layers` must be at least 1. Received: layers={layers}.")
        if bidirectional and units % 2:
            raise ValueError(
                "`units` must be even, for each direction has half of them. "
                f"Received: units={units}."
            )
        self.settings: dict[str, Any] = {
            "units": units,
            "cell": cell,
            "layers": layers,
            "bidirectional": bidirectional,
            "dropout": dropout,
        }
        self.units = units
        policy = self.dtype_policy
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)
        width = units // 2 if bidirectional else units
        self.recurrences = []
        for _ in range(layers):
            cells = [make_cell(cell, width, dtype=policy) for _ in range(1 + bidirectional)]
            self.recurrences.append(Recurrence(*cells, dtype=policy))

    @property
    def states(self) -> int:
        """How many states the cell has."""
        return len(state_sizes(self.recurrences[-1].cell))

    @property
    def summary_units(self) -> int:
        """Width of the summary."""
        return self.units * self.states

    def build(self, inputs_shape, inputs_mask_shape=None):
        width = inputs_shape[-1]
        for recurrence in self.recurrences:
            recurrence.build((*inputs_shape[:2], width))
            width = self.units

    def call(self, inputs, inputs_mask=None, training=False):
        mask = inputs_mask
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], dtype="bool")
        something = ops.any(mask, axis=1, keepdims=True)
        # GPU kernels refuse a row without a step, so it gets one, and zeros in the end.
        first = ops.equal(ops.arange(ops.shape(inputs)[1]), 0)
        steps = ops.logical_or(mask, ops.logical_and(first, ops.logical_not(something)))
        outputs = self.dropout(inputs, training=training)
        for recurrence in self.recurrences:
            outputs, states = recurrence(outputs, inputs_mask=steps)
            outputs = self.dropout(outputs, training=training)
        outputs = outputs * ops.cast(mask, outputs.dtype)[..., None]
        states = [state * ops.cast(something, state.dtype) for state in states]
        last = ops.concatenate(states[:: self.states], -1)
        return outputs, ops.concatenate(states, -1), last

    def compute_output_shape(self, inputs_shape, inputs_mask_shape=None):
        batch = inputs_shape[0]
        outputs = (*inputs_shape[:2], self.units)
        return outputs, (batch, self.summary_units), (batch, self.units)

    def get_config(self):
        return {**super().get_config(), **self.settings}
