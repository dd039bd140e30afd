"""Recurrent layers, one upon the other."""

from typing import Any

import keras
from keras import ops

from pairloom.models.cells import make_cell
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.recurrence.layer import Recurrence
from pairloom.models.recurrence.lstmn import LSTMN


@keras.saving.register_keras_serializable(package="pairloom")
class RecurrentStack(Encoder):
    """Runs recurrent layers over a sequence of vectors, each over what the one before gave.

    Args:
        units: Width of the states; with two directions each has half of it.
        cell: A name of `cells.CELLS`, such as `"gru"`; or `"lstmn"`, which attends to its own past
            and reads forwards only.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every layer reads both ways.
        backwards: Whether a one-way layer reads from the end to the start, Sutskever et al. (2014).
            States stay at the positions of their inputs.
        dropout: Share of input and state entries dropped in training.

    Call arguments:
        inputs: `(batch, time, width)`.
        inputs_mask: `(batch, time)`, True where there is something; a row may have nothing.

    Returns:
        `(outputs, summary, last, inner)`: `(batch, time, units)` with zeros where masked; the last
        layer's last states, all side by side, `(batch, summary_units)`; of those the ones that are
        outputs too, `(batch, units)`; and with `"lstmn"` what each position of the last layer
        attended to, `(batch, time, time)`, else empty. A row with nothing gets zeros.
    """

    def __init__(
        self,
        units: int,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        backwards: bool = False,
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
            "backwards": backwards,
        }
        self.units = units
        policy = self.dtype_policy
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)
        self.recurrences = [
            _make_recurrence(cell, units, bidirectional, backwards, policy) for _ in range(layers)
        ]

    @property
    def attends_to_itself(self) -> bool:
        """Whether `inner` is there."""
        return isinstance(self.recurrences[-1], LSTMN)

    @property
    def summary_units(self) -> int:
        """Width of the summary."""
        return self.units * self.recurrences[-1].state_count

    def build(self, inputs_shape, inputs_mask_shape=None):
        width = inputs_shape[-1]
        for recurrence in self.recurrences:
            recurrence.build((*inputs_shape[:2], width))
            width = self.units

    def call(self, inputs, inputs_mask=None, training=False):
        outputs = self.dropout(inputs, training=training)
        inner: list = []
        for recurrence in self.recurrences:
            outputs, states, *inner = recurrence(outputs, inputs_mask=inputs_mask)
            outputs = self.dropout(outputs, training=training)
        last = ops.concatenate(states[:: self.recurrences[-1].state_count], -1)
        return outputs, ops.concatenate(states, -1), last, inner[0] if inner else ()

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input."""
        return previous_mask

    def compute_output_shape(self, inputs_shape, inputs_mask_shape=None):
        batch = inputs_shape[0]
        outputs = (*inputs_shape[:2], self.units)
        inner = (*inputs_shape[:2], inputs_shape[1]) if self.attends_to_itself else ()
        return outputs, (batch, self.summary_units), (batch, self.units), inner

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _make_recurrence(cell: str, units: int, bidirectional: bool, backwards: bool, policy: Any):
    if cell == "lstmn":
        if bidirectional or backwards:
            raise ValueError(
                "`cell='lstmn'` reads forwards only. "
                f"Received: bidirectional={bidirectional}, backwards={backwards}."
            )
        return LSTMN(units, dtype=policy)
    width = units // 2 if bidirectional else units
    other = make_cell(cell, width, dtype=policy) if bidirectional else None
    return Recurrence(make_cell(cell, width, dtype=policy), other, backwards, dtype=policy)
