"""The one matrix product that every layer here is made of."""

from collections.abc import Callable, Mapping
from typing import Any

from keras import ops


def product(inputs, kernel, bias=None):
    """Multiplies `inputs (..., width)` with `kernel (width, units)` as one flat matrix product.

    Left as a batched product, the kernel's gradient would be one matrix for every position. A
    `kernel (batch, width, units)` is multiplied with the inputs of its own row of the batch. A
    `bias (units,)` is added at once, where TensorFlow can make one kernel of the two.
    """
    kernel = ops.cast(kernel, inputs.dtype)
    flat = len(inputs.shape) == 2 or len(kernel.shape) == 3
    shape = ops.shape(inputs)
    made = ops.matmul(inputs if flat else ops.reshape(inputs, (-1, inputs.shape[-1])), kernel)
    if bias is not None:
        made = made + ops.cast(bias, inputs.dtype)
    return made if flat else ops.reshape(made, (*shape[:-1], kernel.shape[-1]))


def plain_products(kernels: Mapping[str, Any]) -> Callable:
    """`multiply(name, x)` for a single step, outside any loop."""
    return lambda name, x: product(x, kernels[name])
