"""A recurrent layer over a sequence, in one or both directions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras
from keras import ops

from pairloom.models.recurrence.keras_cell import check_cell, in_loop
from pairloom.models.recurrence.scan import scan
from pairloom.models.shared_parts import adopt_policy

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
        cell: The cell, such as `GRUCell(256)`; or one of Keras's own, or any that
            `keras.layers.RNN` runs, whose products stay inside of the loop.
        backward_cell: A second cell of its own weights for the other direction; None: one way.
        backwards: Whether `cell` reads from the end to the start, and the other one forwards. What
            it makes of an input stays at that input's position.
        go_backwards: As in Keras: one cell reads from the end to the start, and what it makes comes
            in the order in which it was made.
        return_sequences: Whether what was made at each step comes back, rather than at the last.
        return_state: Whether the last states come back too; a `keras.Sequential` wants the outputs
            alone.

    Call arguments:
        inputs: `(batch, time, width)`.
        initial_state: The states to begin with, each `(batch, units)`, `cell`'s first; zeros when
            not given.
        inputs_mask: `(batch, time)`, True where there is something. A masked step changes no state.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        `(outputs, states)`: `(batch, time, units)` with zeros where masked, both directions side
        by side, or without `return_sequences` what each made last, `(batch, units)`; and the list
        of last states, each `(batch, units)`, `cell`'s first.
    """

    def __init__(
        self,
        cell,
        backward_cell=None,
        backwards: bool = False,
        *,
        go_backwards: bool = False,
        return_sequences: bool = True,
        return_state: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        # XLA would compile TensorFlow's loop anew for every length.
        self.supports_jit = keras.backend.backend() != "tensorflow"
        for one in (cell,) if backward_cell is None else (cell, backward_cell):
            check_cell(one)
        if go_backwards and (backwards or backward_cell is not None):
            raise ValueError(
                "`go_backwards` is for one cell alone; `backwards` leaves outputs at their inputs' "
                "positions, and goes with two. Received: `go_backwards` beside one of these."
            )
        self.cell = cell
        self.backward_cell = backward_cell
        self.backwards = backwards
        self.go_backwards = go_backwards
        self.return_sequences = return_sequences
        self.return_state = return_state
        adopt_policy(self, kwargs, cell, backward_cell)

    def build(self, inputs_shape, *others, **other_shapes):
        for cell in filter(None, (self.cell, self.backward_cell)):
            if not cell.built:
                cell.build(inputs_shape)

    def call(self, inputs, inputs_mask=None, mask=None, initial_state=None):
        mask = mask if inputs_mask is None else inputs_mask
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], dtype="bool")
        if initial_state is None and _fused_kernels_serve(in_loop(self.cell)):
            # The kernels take masks with padding at the end only.
            outputs, states = ops.cond(
                _padded_at_the_end(mask),
                lambda: self._fused(inputs, mask),
                lambda: self._looped(inputs, mask),
            )
        else:
            outputs, states = self._looped(inputs, mask, initial_state)
        if self.return_sequences:
            outputs = outputs * ops.cast(mask, outputs.dtype)[..., None]
            outputs = _turned(outputs, 1, self.go_backwards)
        else:
            outputs = self._last(outputs, mask)
        return (outputs, states) if self.return_state else outputs

    def _last(self, outputs, mask):
        """What each direction made last, side by side; zeros of a row with nothing."""
        places = ops.arange(ops.shape(mask)[1], dtype="int32")
        parts, start = [], 0
        for cell, backwards in self._ways:
            if backwards:
                hit = ops.logical_and(mask, ops.equal(ops.cumsum(ops.cast(mask, "int32"), 1), 1))
            else:
                last = ops.max(ops.where(mask, places, -1), axis=1, keepdims=True)
                hit = ops.equal(places, last)
            part = outputs[..., start : start + output_size(cell)]
            start += output_size(cell)
            # Chosen, not multiplied: what stands elsewhere may be infinite.
            parts.append(ops.sum(ops.where(hit[..., None], part, ops.zeros_like(part)), axis=1))
        return ops.concatenate(parts, -1)

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input, where there is one for each."""
        if previous_mask is None or not self.return_sequences:
            return None
        return _turned(previous_mask, 1, self.go_backwards)

    def compute_output_shape(self, inputs_shape, *others, **other_shapes):
        batch, time = inputs_shape[:2]
        cells = [cell for cell, _ in self._ways]
        width = sum(output_size(cell) for cell in cells)
        outputs = (batch, time, width) if self.return_sequences else (batch, width)
        if not self.return_state:
            return outputs
        return outputs, [(batch, size) for cell in cells for size in state_sizes(cell)]

    @property
    def state_count(self) -> int:
        """How many states the cell has."""
        return len(state_sizes(self.cell))

    @property
    def _ways(self) -> list[tuple[Any, bool]]:
        """Each cell, and whether it reads backwards."""
        backwards = self.backwards or self.go_backwards
        ways = [(self.cell, backwards), (self.backward_cell, not backwards)]
        return ways if self.backward_cell is not None else ways[:1]

    def _looped(self, inputs, mask, initial_state=None):
        batch = ops.shape(inputs)[0]
        inputs = ops.transpose(inputs, (1, 0, 2))
        mask = ops.transpose(mask)[..., None]
        cells = [in_loop(cell) for cell, _ in self._ways]
        over_time = [
            (_turned(cell.project(inputs), 0, backwards), _turned(mask, 0, backwards))
            for cell, (_, backwards) in zip(cells, self._ways)
        ]
        steppers = [cell.stepper() for cell in cells]
        kernels = named_kernels(cells, inputs.dtype)

        def step(states, inputs_at_t, multiply):
            new_states, outputs = [], []
            for number, (old, (projected, here)) in enumerate(zip(states, inputs_at_t)):
                output, new = steppers[number](projected, old, of_part(number, multiply))
                outputs.append(output)
                new_states.append([ops.where(here, n, o) for n, o in zip(new, old)])
            return new_states, tuple(outputs)

        sizes = [state_sizes(cell) for cell, _ in self._ways]
        given = iter(self._checked(initial_state, sizes))
        start = [
            [_started(next(given), batch, size, inputs.dtype) for size in one] for one in sizes
        ]
        states, stacked = scan(step, start, over_time, (inputs.dtype,) * len(cells), kernels)
        turned = [_turned(x, 0, backwards) for x, (_, backwards) in zip(stacked, self._ways)]
        outputs = ops.transpose(ops.concatenate(turned, -1), (1, 0, 2))
        return outputs, [state for way in states for state in way]

    @staticmethod
    def _checked(initial_state, sizes: list[list[int]]) -> list[Any]:
        """A state or None for each size."""
        count = sum(len(one) for one in sizes)
        if initial_state is None:
            return [None] * count
        several = isinstance(initial_state, list | tuple)
        states = list(initial_state) if several else [initial_state]
        if len(states) != count:
            raise ValueError(
                f"`initial_state` must have {count} states, `cell`'s first. "
                f"Received: {len(states)}."
            )
        return states

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
            "go_backwards": self.go_backwards,
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
        }

    @classmethod
    def from_config(cls, config):
        cells = [
            keras.saving.deserialize_keras_object(config.pop(name))
            for name in ("cell", "backward_cell")
        ]
        policies = [None if cell is None else cell.dtype_policy for cell in cells]
        layer = cls(*cells, **config)
        for cell, policy in zip(cells, policies):
            if cell is not None:
                cell.dtype_policy = policy
        return layer


def _turned(x, axis: int, backwards: bool):
    return ops.flip(x, axis) if backwards else x


def _padded_at_the_end(mask):
    """Whether no row of a mask has something behind a gap."""
    return ops.all(ops.logical_or(mask[:, :-1], ops.logical_not(mask[:, 1:])))


def state_sizes(cell) -> list[int]:
    """The widths of a cell's states, a list for every cell."""
    size = cell.state_size
    return list(size) if isinstance(size, list | tuple) else [size]


def output_size(cell) -> int:
    """The width of what a cell makes."""
    size = cell.output_size
    return size[0] if isinstance(size, list | tuple) else size


def _started(state, batch, size: int, dtype: str):
    return ops.zeros((batch, size), dtype=dtype) if state is None else ops.cast(state, dtype)


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
