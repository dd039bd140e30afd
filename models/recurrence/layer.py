"""A recurrent layer over a sequence, in one or both directions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras
from keras import ops

from pairloom.models.recurrence.scan import scan

_PORTABLE = ContextVar("portable", default=False)


@contextmanager
def portable_kernels() -> Iterator[None]:
    """Inside, recurrences are traced without GPU kernels, so that the graph runs on any machine."""
    token = _PORTABLE.set(True)
    try:
        yield
    finally:
        _PORTABLE.reset(token)


@keras.saving.register_keras_serializable(package="pairloom")
class Recurrence(keras.layers.Layer):
    """Runs a cell over time; with a second cell, backwards too.

    The input products of all steps are one product before the loop, and both directions share
    the loop. On a GPU, TensorFlow's fused kernels run the stock cells.

    Args:
        cell: The cell, such as `GRUCell(256)`.
        backward_cell: A second cell of its own weights for the other direction; None: one way.
        backwards: Whether `cell` reads from the end to the start, and the other one forwards. What
            it makes of an input stays at that input's position.

    Call arguments:
        inputs: `(batch, time, width)`.
        inputs_mask: `(batch, time)`, True where there is something. A masked step changes no state.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        `(outputs, states)`: `(batch, time, units)` with zeros where masked, both directions side
        by side, and the list of last states, each `(batch, units)`, `cell`'s first.
    """

    def __init__(self, cell, backward_cell=None, backwards: bool = False, **kwargs):
        super().__init__(**kwargs)
        for one in (cell, backward_cell):
            if one is not None and not hasattr(one, "stepper"):
                raise TypeError(
                    "`Recurrence` runs pairloom's cells, such as `GRUCell(256)` of "
                    "pairloom.models; others run in `keras.layers.RNN`. "
                    f"Received: {type(one).__module__}.{type(one).__name__}."
                )
        self.cell = cell
        self.backward_cell = backward_cell
        self.backwards = backwards

    def build(self, inputs_shape, inputs_mask_shape=None, mask_shape=None):
        for cell in filter(None, (self.cell, self.backward_cell)):
            if not cell.built:
                cell.build(inputs_shape)

    def call(self, inputs, inputs_mask=None, mask=None):
        mask = mask if inputs_mask is None else inputs_mask
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], dtype="bool")
        if _fused_kernels_serve(self.cell):
            # The kernels take masks with padding at the end only.
            outputs, states = ops.cond(
                _padded_at_the_end(mask),
                lambda: self._fused(inputs, mask),
                lambda: self._looped(inputs, mask),
            )
        else:
            outputs, states = self._looped(inputs, mask)
        return outputs * ops.cast(mask, outputs.dtype)[..., None], states

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input."""
        return previous_mask

    @property
    def state_count(self) -> int:
        """How many states the cell has."""
        return len(state_sizes(self.cell))

    @property
    def _ways(self) -> list[tuple[Any, bool]]:
        """Each cell, and whether it reads backwards."""
        ways = [(self.cell, self.backwards), (self.backward_cell, not self.backwards)]
        return ways if self.backward_cell is not None else ways[:1]

    def _looped(self, inputs, mask):
        batch = ops.shape(inputs)[0]
        inputs = ops.transpose(inputs, (1, 0, 2))
        mask = ops.transpose(mask)[..., None]
        cells = [cell for cell, _ in self._ways]
        over_time = [
            (_turned(cell.project(inputs), 0, backwards), _turned(mask, 0, backwards))
            for cell, backwards in self._ways
        ]
        steppers = [cell.stepper() for cell in cells]
        kernels = named_kernels(cells, inputs.dtype)

        def step(states, inputs_at_t, multiply):
            new_states = []
            for number, (old, (projected, here)) in enumerate(zip(states, inputs_at_t)):
                _, new = steppers[number](projected, old, of_part(number, multiply))
                new_states.append([ops.where(here, n, o) for n, o in zip(new, old)])
            return new_states, tuple(states[0] for states in new_states)

        start = [
            [ops.zeros((batch, cell.units), dtype=inputs.dtype) for _ in state_sizes(cell)]
            for cell in cells
        ]
        states, stacked = scan(step, start, over_time, (inputs.dtype,) * len(cells), kernels)
        turned = [_turned(x, 0, backwards) for x, (_, backwards) in zip(stacked, self._ways)]
        outputs = ops.transpose(ops.concatenate(turned, -1), (1, 0, 2))
        return outputs, [state for way in states for state in way]

    def _fused(self, inputs, mask):
        # The kernels refuse a row without a step, so it gets one, and zeros in the end.
        something = ops.any(mask, axis=1, keepdims=True)
        first = ops.equal(ops.arange(ops.shape(inputs)[1]), 0)
        steps = ops.logical_or(mask, ops.logical_and(first, ops.logical_not(something)))
        all_outputs, all_states = [], []
        for cell, backwards in self._ways:
            outputs, *states = _stock_layer(cell, backwards)(inputs, mask=steps)
            all_outputs.append(_turned(outputs, 1, backwards))
            all_states += [state * ops.cast(something, state.dtype) for state in states]
        return ops.concatenate(all_outputs, -1), all_states

    def get_config(self):
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "backward_cell": keras.saving.serialize_keras_object(self.backward_cell),
            "backwards": self.backwards,
        }

    @classmethod
    def from_config(cls, config):
        cells = [
            keras.saving.deserialize_keras_object(config.pop(name))
            for name in ("cell", "backward_cell")
        ]
        return cls(*cells, **config)


def _turned(x, axis: int, backwards: bool):
    return ops.flip(x, axis) if backwards else x


def _padded_at_the_end(mask):
    """Whether no row of a mask has something behind a gap."""
    return ops.all(ops.logical_or(mask[:, :-1], ops.logical_not(mask[:, 1:])))


def state_sizes(cell) -> list[int]:
    """The widths of a cell's states, a list for every cell."""
    size = cell.state_size
    return list(size) if isinstance(size, list | tuple) else [size]


def named_kernels(cells: Sequence, dtype: str) -> dict[str, Any]:
    """The kernels of several cells in one loop, each under its cell's number."""
    return {
        f"{number}.{name}": ops.cast(kernel, dtype)
        for number, cell in enumerate(cells)
        for name, kernel in cell.kernels().items()
    }


def of_part(part: int | str, multiply: Callable) -> Callable:
    """`multiply` as one of several parts of a step calls it."""
    return lambda name, x: multiply(f"{part}.{name}", x)


def _fused_kernels_serve(cell) -> bool:
    if _PORTABLE.get() or keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return cell.stock_layer is not None and bool(tf.config.list_logical_devices("GPU"))


def _stock_layer(cell, backwards: bool) -> keras.layers.Layer:
    """Keras's own layer around our cell; it holds no weights, so it may live for one trace."""
    layer = cell.stock_layer(
        cell.units,
        return_sequences=True,
        return_state=True,
        go_backwards=backwards,
        dtype=cell.dtype_policy,
    )
    layer.cell = cell
    layer.built = True
    return layer
