"""The one matrix product that every layer here is made of."""

from collections.abc import Callable, Mapping
from typing import Any

from keras import ops


def product(inputs, kernel):
    """Multiplies `inputs (..., width)` with `kernel (width, units)` as one flat matrix product.

    Left as a batched product, the kernel's gradient would be one matrix for every position. A
    `kernel (batch, width, units)` is multiplied with the inputs of its own row of the batch.
    """
    kernel = ops.cast(kernel, inputs.dtype)
    if len(inputs.shape) == 2 or len(kernel.shape) == 3:
        return ops.matmul(inputs, kernel)
    shape = ops.shape(inputs)
    flat = ops.matmul(ops.reshape(inputs, (-1, inputs.shape[-1])), kernel)
    return ops.reshape(flat, (*shape[:-1], kernel.shape[-1]))


def plain_products(kernels: Mapping[str, Any]) -> Callable:
    """`multiply(name, x)` for a single step, outside any loop."""
    return lambda name, x: product(x, kernels[name])
