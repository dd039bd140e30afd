"""The one matrix product that every layer here is made of."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import keras
from keras import ops

_NARROW: ContextVar[str] = ContextVar("narrow", default="")


@contextmanager
def products_in(dtype: str) -> Iterator[None]:
    """Inside, products of float32 are made in a narrower type, such as `"bfloat16"`.

    Their results are float32 again, as all else is: on a CPU a product in bfloat16 is twice as fast
    as in float32 where it has the instructions, and everything else two to four times as slow,
    which a dtype policy cannot tell apart. It holds for what is traced inside, gradients included.

    Args:
        dtype: The type of the factors; empty: their own.
    """
    token = _NARROW.set(dtype)
    try:
        yield
    finally:
        _NARROW.reset(token)


def narrowed(kernel):
    """A product's kernel in the type that `products_in` says, which its other factor then takes.

    A vector and a kernel for each row stay as they are: such products are a matter of memory, and
    casts cost more than they save.
    """
    narrow = _NARROW.get()
    matrix = len(kernel.shape) == 2 and 1 not in kernel.shape
    wide = keras.backend.standardize_dtype(kernel.dtype) == "float32"
    return ops.cast(kernel, narrow) if narrow and matrix and wide else kernel


def product(inputs, kernel, bias=None):
    """Multiplies `inputs (..., width)` with `kernel (width, units)` as one flat matrix product.

    Left as a batched product, the kernel's gradient would be one matrix for every position. A
    `kernel (batch, width, units)` is multiplied with the inputs of its own row of the batch. A
    `bias (units,)` is added at once, where TensorFlow can make one kernel of the two.
    """
    kernel = narrowed(ops.cast(kernel, inputs.dtype))
    flat = len(inputs.shape) == 2 or len(kernel.shape) == 3
    shape = ops.shape(inputs)
    left = inputs if flat else ops.reshape(inputs, (-1, inputs.shape[-1]))
    made = ops.cast(ops.matmul(ops.cast(left, kernel.dtype), kernel), inputs.dtype)
    if bias is not None:
        made = made + ops.cast(bias, inputs.dtype)
    return made if flat else ops.reshape(made, (*shape[:-1], kernel.shape[-1]))


def plain_products(kernels: Mapping[str, Any]) -> Callable:
    """`multiply(name, x)` for a single step, outside any loop."""
    return lambda name, x: product(x, kernels[name])
