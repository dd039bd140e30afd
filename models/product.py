"""The one matrix product that every layer here is made of."""

from keras import ops


def product(inputs, kernel):
    """Multiplies `inputs (..., width)` with `kernel (width, units)` as one flat matrix product.

    Left as a batched product, the kernel's gradient would be one matrix for every position.
    """
    kernel = ops.cast(kernel, inputs.dtype)
    if len(inputs.shape) == 2:
        return ops.matmul(inputs, kernel)
    shape = ops.shape(inputs)
    flat = ops.matmul(ops.reshape(inputs, (-1, inputs.shape[-1])), kernel)
    return ops.reshape(flat, (*shape[:-1], kernel.shape[-1]))
