"""Any cell of Keras in our loop."""

from collections.abc import Callable
from typing import Any

import keras

from pairloom.models.cells.loop_cell import LoopCell


class _KerasCell:
    """What the loop asks of a cell, of one that only knows `cell(inputs, states)`.

    Its products stay inside of the loop, as in `keras.layers.RNN`.
    """

    stock_layer = None

    def __init__(self, cell: keras.layers.Layer):
        self._cell = cell

    def project(self, inputs, kernel=None):
        """The inputs as they are."""
        return inputs

    def kernels(self) -> dict[str, Any]:
        """None that the loop could multiply with."""
        return {}

    def stepper(self) -> Callable:
        """A step that calls the cell."""

        def step(inputs, states, multiply):
            output, states = self._cell(inputs, list(states))
            return output, list(states) if isinstance(states, list | tuple) else [states]

        return step


def in_loop(cell: Any) -> Any:
    """The cell as the loop calls it."""
    return cell if isinstance(cell, LoopCell) else _KerasCell(cell)


def check_cell(cell: Any) -> None:
    """Refuses what is no cell, and what a loop cannot draw for."""
    is_cell = isinstance(cell, keras.layers.Layer) and hasattr(cell, "state_size")
    if not is_cell or not hasattr(cell, "output_size"):
        raise TypeError(
            "`Recurrence` runs cells, such as `GRUCell(256)` of pairloom.models or keras.layers. "
            f"Received: {type(cell).__module__}.{type(cell).__name__}."
        )
    if any(getattr(cell, name, 0.0) for name in ("dropout", "recurrent_dropout")):
        raise ValueError(
            "A cell in `Recurrence` must have no dropout: use `keras.layers.Dropout` before it, or "
            f"run the cell in `keras.layers.RNN`. Received: {cell.get_config()}."
        )
