"""One loop over time for every recurrent layer."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
from keras import ops

from pairloom.models.product import plain_products


def scan(
    step: Callable,
    state: Any,
    inputs: Any,
    dtypes: tuple[str, ...],
    kernels: Mapping[str, Any] | None = None,
) -> tuple[Any, tuple]:
    """Runs `step` over the first axis of `inputs` and stacks what it returns.

    Example: with `step = lambda total, x, multiply: (total + x, (2 * x,))`, state 0 and inputs
    `[1, 2, 3]` the result is `(6, ([2, 4, 6],))`.

    Args:
        step: `step(state, inputs_at_t, multiply) -> (state, outputs_at_t)`, the outputs a tuple of
            tensors. `multiply(name, x)` is `x` times the kernel of that name, `x` having as many
            rows as the state; every kernel is used exactly once a step. Its gradient is then one
            product for all steps.
        state: Structure of tensors, its shapes the same at every step.
        inputs: Structure of tensors `(time, ...)`.
        dtypes: The outputs' types, one for each.
        kernels: Name to matrix `(width, units)`, or to one for each row, `(rows, width, units)`.

    Returns:
        The last state, and the tuple of outputs, each `(time, ...)`.
    """
    kernels = kernels or {}
    if keras.backend.backend() == "tensorflow":
        from pairloom.models.recurrence.tensorflow_scan import tensorflow_scan

        return tensorflow_scan(step, state, inputs, dtypes, kernels)
    return ops.scan(lambda s, x: step(s, x, plain_products(kernels)), state, inputs)
