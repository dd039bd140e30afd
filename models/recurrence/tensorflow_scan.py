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

from pairloom.models.product import narrowed

_TWICE_AT_MOST = "pairloom's loops over time can be differentiated twice, not three times."


def tensorflow_scan(
    step: Callable, state: Any, inputs: Any, dtypes: tuple[str, ...], kernels: Mapping[str, Any]
) -> tuple[Any, tuple]:
    """As `scan` says."""
    flat_inputs = [tf.convert_to_tensor(x) for x in tree.flatten(inputs)]
    time = tf.shape(flat_inputs[0])[0]
    rows = tf.shape(tree.flatten(state)[0])[0]
    products = {
        name: _LoopProduct(narrowed(tf.convert_to_tensor(kernel)), time, rows)
        for name, kernel in kernels.items()
    }
    arrays = [
        tf.TensorArray(x.dtype, size=time, element_shape=x.shape[1:]).unstack(x)
        for x in flat_inputs
    ]
    types = (*dtypes, *(product.dtype for product in products.values()))
    outputs = [tf.TensorArray(dtype, size=time, infer_shape=False) for dtype in types]
    shapes: list[tf.TensorShape] = []

    def body(t, state, outputs):
        inputs_at_t = tree.pack_sequence_as(inputs, [array.read(t) for array in arrays])
        factors = {}

        def multiply(name, x):
            narrow = tf.cast(x, products[name].dtype)
            width = x.shape[-1] or tf.shape(x)[-1]
            factors[name] = tf.stop_gradient(tf.reshape(narrow, [-1, width]))
            return tf.cast(products[name](narrow, t), x.dtype)

        state, written = step(state, inputs_at_t, multiply)
        written = [*written, *(factors[name] for name in products)]
        shapes[:] = [value.shape for value in written]
        return t + 1, state, [array.write(t, value) for array, value in zip(outputs, written)]

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < time, body, (0, state, outputs), maximum_iterations=time
    )
    stacked = [array.stack() for array in outputs]
    for tensor, shape in zip(stacked, shapes):
        tensor.set_shape(tf.TensorShape([flat_inputs[0].shape[0]]).concatenate(shape))
    for product, factors in zip(products.values(), stacked[len(dtypes) :]):
        product.factors = factors
    return state, tuple(stacked[: len(dtypes)])


class _LoopProduct:
    """A product in a loop whose kernel learns after the loop.

    With every product the loop reads an element of a list that is never filled: all it is for is
    its gradient. The loop's own gradient fills that with what came back to each product, and the
    list's gradient, made here by hand, hands it on to the kernel as one product with all factors.

    For the gradient of a gradient the same way is gone once more. What comes back to the kernel's
    gradient depends on the factors, and these were kept without theirs: so each product's own
    gradient hands that part on to its factor.
    """

    def __init__(self, kernel: tf.Tensor, time: tf.Tensor, rows: tf.Tensor):
        self.dtype = kernel.dtype
        self._units = kernel.shape[-1]
        self._kernel = kernel
        # Transposed once: inside the loop each step would do it anew.
        self._transposed = tf.linalg.matrix_transpose(kernel)
        self._shape = tf.stack([rows, self._units])
        self.factors: tf.Tensor | None = None
        # Transposed, what came back to the kernel's gradient; None where nothing did.
        self._returned_twice: tf.Tensor | None = None
        self._list = self._make_list(kernel, time)

    def _make_list(self, kernel: tf.Tensor, time: tf.Tensor) -> tf.Tensor:
        @tf.custom_gradient
        def make(kernel):
            def gradient(upstream):
                if self.factors is None:
                    raise NotImplementedError(
                        "`tf.autodiff.ForwardAccumulator` cannot follow the kernels of "
                        "pairloom's loops over time. Differentiate by `tf.GradientTape`, or run "
                        "the cell in `keras.layers.RNN`."
                    )
                returned = tf.raw_ops.TensorListStack(
                    input_handle=upstream, element_shape=self._shape, element_dtype=self.dtype
                )
                return self._gradient(self.factors, returned)

            empty = tf.raw_ops.TensorListReserve(
                element_shape=self._shape, num_elements=time, element_dtype=self.dtype
            )
            return empty, gradient

        return make(kernel)

    def _gradient(self, factors, returned):
        """From `(time, rows, width)` and `(time, rows, units)` to the kernel's gradient."""

        @tf.custom_gradient
        def weigh(returned):
            def gradient(upstream):
                self._returned_twice = tf.linalg.matrix_transpose(upstream)
                own = "rwu" if upstream.shape.rank == 3 else "wu"
                by_returned = tf.einsum(f"trw,{own}->tru", factors, upstream)
                return tf.raw_ops.PreventGradient(input=by_returned, message=_TWICE_AT_MOST)

            if self._kernel.shape.rank == 3:
                rows = (tf.transpose(x, [1, 0, 2]) for x in (factors, returned))
                return tf.matmul(*rows, transpose_a=True), gradient
            rows = tf.reshape(factors, [-1, factors.shape[-1]])
            columns = tf.reshape(returned, [-1, self._units])
            return tf.matmul(rows, columns, transpose_a=True), gradient

        return weigh(returned)

    def __call__(self, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
        """`x (rows, width)`, or with ones between, `(rows, 1, width)`, times the kernel."""
        unread = tf.raw_ops.TensorListGetItem(
            input_handle=self._list, index=t, element_shape=self._shape, element_dtype=self.dtype
        )

        @tf.custom_gradient
        def multiply(x, unread):
            def gradient(upstream):
                by_x = _times(upstream, self._transposed)
                return by_x, tf.reshape(self._noted(x, upstream), self._shape)

            return _times(x, self._kernel), gradient

        return multiply(x, unread)

    def _noted(self, x: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
        """`upstream`, on its way to the kernel's gradient together with the factor `x`."""

        @tf.custom_gradient
        def note(x, upstream):
            def gradient(upstream_twice):
                if self._returned_twice is None:
                    return tf.zeros_like(x), upstream_twice
                by_x = _times(upstream, self._returned_twice)
                if not tf.executing_eagerly():
                    # A graph has this once for all steps, and asks even where nothing comes back.
                    self._returned_twice = None
                return by_x, upstream_twice

            return upstream, gradient

        return note(x, upstream)


def _times(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """`x` with the kernel, or each row of it with a kernel of its own."""
    if kernel.shape.rank == 2 and x.shape.rank > 2:
        shape = tf.concat([tf.shape(x)[:-1], [kernel.shape[-1]]], 0)
        return tf.reshape(tf.matmul(tf.reshape(x, [-1, x.shape[-1]]), kernel), shape)
    if kernel.shape.rank == 3 and x.shape.rank == 2:
        return tf.matmul(x[:, None], kernel)[:, 0]
    return tf.matmul(x, kernel)
