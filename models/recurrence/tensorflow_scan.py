"""The loop over time, as fast as TensorFlow runs it.

`keras.ops.scan` demands outputs shaped like the state on TensorFlow and keeps the state in
TensorArrays, which costs a copy at every step. And TensorFlow differentiates a loop step by step:
each kernel's gradient is then a sum of one thin product a step, each as large as the kernel. Here
the loop's gradient gives what came back to each product, and one product makes the sum of it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from keras import tree


def tensorflow_scan(
    step: Callable, state: Any, inputs: Any, dtypes: tuple[str, ...], kernels: Mapping[str, Any]
) -> tuple[Any, tuple]:
    """As `scan` says."""
    flat_inputs = [tf.convert_to_tensor(x) for x in tree.flatten(inputs)]
    time = tf.shape(flat_inputs[0])[0]
    rows = tf.shape(tree.flatten(state)[0])[0]
    loop_products = {
        name: _LoopProduct(tf.convert_to_tensor(kernel)) for name, kernel in kernels.items()
    }
    zeros = [loop_product.zeros(time, rows) for loop_product in loop_products.values()]
    arrays = [
        tf.TensorArray(x.dtype, size=time, element_shape=x.shape[1:]).unstack(x)
        for x in flat_inputs + zeros
    ]
    widths = [loop_product.kernel.dtype for loop_product in loop_products.values()]
    outputs = [tf.TensorArray(dtype, size=time, infer_shape=False) for dtype in (*dtypes, *widths)]
    shapes: list[tf.TensorShape] = []

    def body(t, state, outputs):
        values = [array.read(t) for array in arrays]
        inputs_at_t = tree.pack_sequence_as(inputs, values[: len(flat_inputs)])
        zeros_at_t = dict(zip(loop_products, values[len(flat_inputs) :]))
        multiplied = {}

        def multiply(name, x):
            multiplied[name] = tf.stop_gradient(x)
            return loop_products[name](x, zeros_at_t[name])

        state, written = step(state, inputs_at_t, multiply)
        written = [*written, *(multiplied[name] for name in loop_products)]
        shapes[:] = [value.shape for value in written]
        return t + 1, state, [array.write(t, value) for array, value in zip(outputs, written)]

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < time, body, (0, state, outputs), maximum_iterations=time
    )
    stacked = [array.stack() for array in outputs]
    for tensor, shape in zip(stacked, shapes):
        tensor.set_shape(tf.TensorShape([flat_inputs[0].shape[0]]).concatenate(shape))
    for loop_product, factors in zip(loop_products.values(), stacked[len(dtypes) :]):
        loop_product.factors = factors
    return state, tuple(stacked[: len(dtypes)])


class _LoopProduct:
    """A product in a loop whose kernel learns after the loop.

    To every product a zero is added that the loop reads as an input. The loop's own gradient
    brings back what each zero would have had to change, and the zeros' gradient, made here by
    hand, hands that on to the kernel as one product with all the factors.
    """

    def __init__(self, kernel: tf.Tensor):
        self._source = kernel
        self.kernel = tf.stop_gradient(kernel)
        # Transposed once: inside the loop each step would do it anew.
        self._transposed = tf.transpose(self.kernel)
        self.factors: tf.Tensor | None = None

    def zeros(self, time: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        """`(time, rows, units)`, and a gradient for the kernel once `factors` are known."""
        width, units = self.kernel.shape

        @tf.custom_gradient
        def make(kernel):
            def gradient(upstream):
                factors = tf.reshape(self.factors, [-1, width])
                return tf.matmul(factors, tf.reshape(upstream, [-1, units]), transpose_a=True)

            return tf.zeros([time, rows, units], kernel.dtype), gradient

        made = make(self._source)
        made.set_shape([None, None, units])
        return made

    def __call__(self, x: tf.Tensor, zero: tf.Tensor) -> tf.Tensor:
        @tf.custom_gradient
        def multiply(x, zero):
            def gradient(upstream):
                return tf.matmul(upstream, self._transposed), upstream

            return tf.matmul(x, self.kernel) + zero, gradient

        return multiply(x, zero)
