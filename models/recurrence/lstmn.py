"""A recurrence that attends to its own past."""

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.product import product
from pairloom.models.recurrence.scan import scan


@keras.saving.register_keras_serializable(package="pairloom")
class LSTMN(keras.layers.Layer):
    """The long short-term memory-network: a tape of all states in place of the last one.

    Cheng et al. (2016), equations 1 to 6. At step `t` the input asks the tape,
    `a_ti = v . tanh(W_h h_i + W_x x_t + W_r r_{t-1})` for `i < t`, `s = softmax(a)`,
    `r_t = sum_i s_i h_i`, `c = sum_i s_i c_i`, and the LSTM's step is made from `r_t` and `c` in
    place of `h_{t-1}` and `c_{t-1}`.

    Args:
        units: Width of each of the two states, `h` and `c`.

    Call arguments:
        inputs: `(batch, time, width)`.
        inputs_mask: `(batch, time)`, True where there is something. A masked step changes nothing.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        `(outputs, states, weights)`: `(batch, time, units)` with zeros where masked, the last
        `h` and `c`, and what each step attended to, `(batch, time, time)`.
    """

    def __init__(self, units: int, **kwargs):
        super().__init__(**kwargs)
        # XLA would compile TensorFlow's loop anew for every length.
        self.supports_jit = keras.backend.backend() != "tensorflow"
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        self.units = units
        self.state_count = 2

    def build(self, inputs_shape, inputs_mask_shape=None, mask_shape=None):
        width, units = inputs_shape[-1], self.units

        def add(name, shape, initializer="glorot_uniform"):
            return self.add_weight(shape=shape, initializer=initializer, name=name)

        # The input meets the four gates and the question at once.
        self.kernel = add("kernel", (width, 5 * units))
        self.recurrent_kernel = add("recurrent_kernel", (units, 4 * units), "orthogonal")
        self.tape_kernel = add("tape_kernel", (units, units))
        self.reading_kernel = add("reading_kernel", (units, units))
        self.v = add("v", (units, 1))
        self.bias = add("bias", (5 * units,), _forget_bias_of_one)

    def call(self, inputs, inputs_mask=None, mask=None):
        batch, time = ops.shape(inputs)[:2]
        dtype, units = inputs.dtype, self.units
        mask = mask if inputs_mask is None else inputs_mask
        if mask is None:
            mask = ops.ones((batch, time), dtype="bool")
        projected = ops.transpose(product(inputs, self.kernel, self.bias), (1, 0, 2))
        places = ops.transpose(ops.eye(time, dtype=dtype))[:, None]  # (time, 1, time)
        kernels = {
            name: ops.cast(kernel, dtype)
            for name, kernel in (
                ("recurrent", self.recurrent_kernel),
                ("tape", self.tape_kernel),
                ("reading", self.reading_kernel),
            )
        }
        v = ops.cast(self.v, dtype)

        def step(state, inputs_at_t, multiply):
            # The tape holds h, c and W_h h of each step, side by side: one write, not three.
            tape, written, reading, last = state
            x, here, place = inputs_at_t
            gates, question = ops.split(x, [4 * units], axis=-1)
            question = question + multiply("reading", reading)
            hidden = ops.tanh(tape[..., 2 * units :] + question[:, None])
            scores = ops.squeeze(ops.matmul(hidden, v), -1)
            weights = masked_softmax(scores, written > 0.5)
            recalled = ops.squeeze(ops.matmul(weights[:, None], tape[..., : 2 * units]), 1)
            new_reading, c = ops.split(recalled, 2, axis=-1)
            i, f, candidate, o = ops.split(gates + multiply("recurrent", new_reading), 4, axis=-1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(candidate)
            h = ops.sigmoid(o) * ops.tanh(c)
            made = ops.concatenate([h, c, multiply("tape", h)], -1)
            # `here` is 0 or 1: a masked step writes nothing and leaves the reading as it was.
            place = place * here
            tape = tape + place[..., None] * made[:, None]
            reading = ops.where(here > 0.5, new_reading, reading)
            last = ops.where(here > 0.5, made[:, : 2 * units], last)
            return (tape, written + place, reading, last), (h * here, weights * here)

        start = (
            ops.zeros((batch, time, 3 * units), dtype=dtype),
            ops.zeros((batch, time), dtype=dtype),
            ops.zeros((batch, units), dtype=dtype),
            ops.zeros((batch, 2 * units), dtype=dtype),
        )
        here = ops.cast(ops.transpose(mask), dtype)[..., None]
        (*_, last), (outputs, weights) = scan(
            step, start, (projected, here, places), (dtype, dtype), kernels
        )
        outputs = ops.transpose(outputs, (1, 0, 2))
        return outputs, ops.split(last, 2, axis=-1), ops.transpose(weights, (1, 0, 2))

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input."""
        return previous_mask

    def compute_output_shape(self, inputs_shape, inputs_mask_shape=None, mask_shape=None):
        batch, time = inputs_shape[:2]
        state = (batch, self.units)
        return (batch, time, self.units), [state, state], (batch, time, time)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def _forget_bias_of_one(shape, dtype=None):
    units = shape[0] // 5
    zeros = ops.zeros((units,), dtype=dtype)
    return ops.concatenate([zeros, ops.ones((units,), dtype=dtype), *[zeros] * 3])
