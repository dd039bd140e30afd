"""Recurrent cells: what happens in one step of time."""

import keras

from pairloom.models.cells.gru import GRUCell
from pairloom.models.cells.lstm import LSTMCell

CELLS = {"gru": GRUCell, "lstm": LSTMCell}

__all__ = ["CELLS", "GRUCell", "LSTMCell", "make_cell"]


def make_cell(name: str, units: int, **kwargs) -> keras.layers.Layer:
    """The cell of that name, as recipes write it."""
    if name not in CELLS:
        raise ValueError(f"`cell` must be one of {sorted(CELLS)}. Received: cell={name!r}.")
    return CELLS[name](units, **kwargs)
