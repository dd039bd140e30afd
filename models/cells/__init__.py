"""Recurrent cells: what happens in one step of time."""

from collections.abc import Callable
from functools import partial

import keras

from pairloom.models.cells.gru import GRUCell
from pairloom.models.cells.lstm import LSTMCell
from pairloom.models.cells.mutants import MUT1Cell, MUT2Cell, MUT3Cell
from pairloom.models.cells.simple import SimpleCell

CELLS: dict[str, Callable[..., keras.layers.Layer]] = {
    "gru": GRUCell,
    "lstm": LSTMCell,
    "lstm_without_forget": partial(LSTMCell, without_gate="forget"),
    "lstm_without_input": partial(LSTMCell, without_gate="input"),
    "lstm_without_output": partial(LSTMCell, without_gate="output"),
    "lstm_zero_forget_bias": partial(LSTMCell, forget_bias=0.0),
    "mut1": MUT1Cell,
    "mut2": MUT2Cell,
    "mut3": MUT3Cell,
    "simple": SimpleCell,
    "simple_sigmoid": partial(SimpleCell, activation="sigmoid"),
}

__all__ = [
    "CELLS",
    "GRUCell",
    "LSTMCell",
    "MUT1Cell",
    "MUT2Cell",
    "MUT3Cell",
    "SimpleCell",
    "make_cell",
]


def make_cell(name: str, units: int, **kwargs) -> keras.layers.Layer:
    """The cell of that name, as recipes write it."""
    if name not in CELLS:
        raise ValueError(f"`cell` must be one of {sorted(CELLS)}. Received: cell={name!r}.")
    return CELLS[name](units, **kwargs)
