"""One loop over time for every recurrent layer."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops, tree


def scan(step: Callable, state: Any, inputs: Any, dtypes: tuple[str, ...]) -> tuple[Any, tuple]:
    """Runs `step` over the first axis of `inputs` and stacks what it returns.

    Example: with `step = lambda total, x: (total + x, (2 * x,))`, state 0 and inputs `[1, 2, 3]`
    the result is `(6, ([2, 4, 6],))`.

    Args:
        step: `step(state, inputs_at_t) -> (state, outputs_at_t)`, the outputs a tuple of tensors.
        state: Structure of tensors, its shapes the same at every step.
        inputs: Structure of tensors `(time, ...)`.
        dtypes: The outputs' types, one for each.

    Returns:
        The last state, and the tuple of outputs, each `(time, ...)`.
    """
    if keras.backend.backend() == "tensorflow":
        return _tensorflow_scan(step, state, inputs, dtypes)
    return ops.scan(step, state, inputs)


def _tensorflow_scan(step: Callable, state: Any, inputs: Any, dtypes: tuple[str, ...]):
    # `keras.ops.scan` demands outputs shaped like the state on TensorFlow, and keeps the state in
    # TensorArrays, which costs a copy at every step.
    import tensorflow as tf

    flat_inputs = [tf.convert_to_tensor(x) for x in tree.flatten(inputs)]
    time = tf.shape(flat_inputs[0])[0]
    arrays = [
        tf.TensorArray(x.dtype, size=time, element_shape=x.shape[1:]).unstack(x)
        for x in flat_inputs
    ]
    outputs = [tf.TensorArray(dtype, size=time, infer_shape=False) for dtype in dtypes]
    shapes: list[tf.TensorShape] = []

    def body(t, state, outputs):
        inputs_at_t = tree.pack_sequence_as(inputs, [array.read(t) for array in arrays])
        state, values = step(state, inputs_at_t)
        shapes[:] = [value.shape for value in values]
        return t + 1, state, [array.write(t, value) for array, value in zip(outputs, values)]

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < time, body, (0, state, outputs), maximum_iterations=time
    )
    stacked = [array.stack() for array in outputs]
    for tensor, shape in zip(stacked, shapes):
        tensor.set_shape(tf.TensorShape([flat_inputs[0].shape[0]]).concatenate(shape))
    return state, tuple(stacked)
