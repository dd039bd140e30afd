"""The three cells that a search over thousands of architectures found best."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.cells.loop_cell import LoopCell
from pairloom.models.weighted import Weighted


class _OneStateCell(Weighted):
    """A Keras cell with one state: what `keras.layers.RNN` asks of it."""

    kinds = {"kernel": "glorot_uniform", "recurrent": "orthogonal", "bias": "zeros"}

    def __init__(self, units: int, *, use_bias: bool = True, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias
        self.state_size = units
        self.output_size = units

    def get_initial_state(self, batch_size=None):
        return [ops.zeros((batch_size, self.units), dtype=self.compute_dtype)]

    def get_config(self):
        return {**super().get_config(), "units": self.units, "use_bias": self.use_bias}

    def compute_output_shape(self, inputs_shape, states_shape=None):
        state = (inputs_shape[0], self.units)
        return state, [state]


class _Mutant(LoopCell, _OneStateCell):
    """What the three have in common: an update gate, a reset gate and a candidate.

    The input product has a block of `units` for each. In one of them (`plain_block`) the input
    itself enters, not multiplied; where it is not as wide as the state it cannot, and is projected
    by a learned matrix first.
    """

    blocks = ("update", "reset", "candidate")
    plain_block: str | None = None

    def build(self, inputs_shape):
        width = inputs_shape[-1]
        self.block_kernels = {
            name: self.add(f"{name}_kernel", (width, self.units))
            for name in self.blocks
            if name != self.plain_block or width != self.units
        }
        self.recurrent_kernels = {
            name: self.add(f"recurrent_{name}_kernel", (self.units, self.units), "recurrent")
            for name in self.recurrent_blocks()
        }
        self.bias: Any = None
        if self.use_bias:
            self.bias = self.add("bias", (3 * self.units,), "bias")

    def recurrent_blocks(self) -> tuple[str, ...]:
        """The blocks in which the state is multiplied."""
        return self.blocks

    @property
    def kernel(self):
        """`(width, 3 * units)`, the identity where the input enters as it is."""
        one = ops.eye(self.units, dtype=self.variable_dtype)
        parts = [ops.convert_to_tensor(self.block_kernels.get(name, one)) for name in self.blocks]
        return ops.concatenate(parts, -1)

    def kernels(self) -> dict[str, Any]:
        return dict(self.recurrent_kernels)

    def input_bias(self, dtype: str) -> Any:
        return None if self.bias is None else ops.cast(self.bias, dtype)

    def stepper(self) -> Callable:
        def step(projected, states, multiply):
            (h,) = states
            z, r, x = ops.split(projected, 3, axis=-1)
            z = ops.sigmoid(self._update(z, h, multiply))
            r = ops.sigmoid(r + multiply("reset", h))
            new = ops.tanh(multiply("candidate", r * h) + self._plain(x))
            h = h + z * (new - h)
            return h, [h]

        return step

    def _update(self, z, h, multiply):
        """What goes into the update gate."""
        return z + multiply("update", h)

    def _plain(self, x):
        """What the input gives to the candidate."""
        return x


@keras.saving.register_keras_serializable(package="pairloom")
class MUT1Cell(_Mutant):
    """Jozefowicz et al. (2015), section 3.4.

    `z = sigmoid(W_xz x + b_z)`, `r = sigmoid(W_xr x + W_hr h + b_r)`,
    `h' = tanh(W_hh (r * h) + tanh(x) + b_h) * z + h * (1 - z)`.

    Where `x` is not as wide as `h`, `tanh(x)` is `tanh(P x)` with a learned `P`.

    Args:
        units: Width of the state.
        use_bias: Whether there are the `b`.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of
            `recurrent_` and `bias_`, and what every Keras layer takes.
    """

    plain_block = "candidate"

    def recurrent_blocks(self):
        return ("reset", "candidate")

    def input_bias(self, dtype: str) -> Any:
        if self.bias is None:
            return None
        # The candidate's bias is outside of `tanh(x)`.
        inside = ops.cast(self.bias[: 2 * self.units], dtype)
        return ops.concatenate([inside, ops.zeros((self.units,), dtype=dtype)])

    def _update(self, z, h, multiply):
        return z

    def _plain(self, x):
        if self.bias is None:
            return ops.tanh(x)
        return ops.tanh(x) + ops.cast(self.bias[2 * self.units :], x.dtype)


@keras.saving.register_keras_serializable(package="pairloom")
class MUT2Cell(_Mutant):
    """Jozefowicz et al. (2015), section 3.4.

    `z = sigmoid(W_xz x + W_hz h + b_z)`, `r = sigmoid(x + W_hr h + b_r)`,
    `h' = tanh(W_hh (r * h) + W_xh x + b_h) * z + h * (1 - z)`.

    Where `x` is not as wide as `h`, the reset gate sees `P x` with a learned `P`.

    Args:
        units: Width of the state.
        use_bias: Whether there are the `b`.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of
            `recurrent_` and `bias_`, and what every Keras layer takes.
    """

    plain_block = "reset"


@keras.saving.register_keras_serializable(package="pairloom")
class MUT3Cell(_Mutant):
    """Jozefowicz et al. (2015), section 3.4.

    `z = sigmoid(W_xz x + W_hz tanh(h) + b_z)`, `r = sigmoid(W_xr x + W_hr h + b_r)`,
    `h' = tanh(W_hh (r * h) + W_xh x + b_h) * z + h * (1 - z)`.

    Args:
        units: Width of the state.
        use_bias: Whether there are the `b`.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of
            `recurrent_` and `bias_`, and what every Keras layer takes.
    """

    def _update(self, z, h, multiply):
        return z + multiply("update", ops.tanh(h))
