"""What lets the layers' tests run on TensorFlow, JAX and PyTorch alike."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import pytest

BACKEND = keras.backend.backend()


def pytest_collection_modifyitems(items):
    if BACKEND == "tensorflow":
        return
    for item in items:
        if item.get_closest_marker("needs_tensorflow"):
            item.add_marker(pytest.mark.skip(reason=f"needs TensorFlow, this is {BACKEND}"))


@pytest.fixture(autouse=True)
def plain_values():
    """Outside of `gradients` PyTorch records none, so that NumPy can read every tensor."""
    if BACKEND != "torch":
        yield
        return
    import torch

    with torch.no_grad():
        yield


@pytest.fixture
def float64():
    """JAX has no float64 unless it is asked for."""
    with contextlib.ExitStack() as stack:
        if BACKEND == "jax":
            import jax

            stack.enter_context(jax.enable_x64(True))
        yield


@pytest.fixture(scope="session")
def gradients():
    """`gradients(function, arrays, layer=None, compiled=False)`: see `_gradients`."""
    return _gradients


@pytest.fixture(scope="session")
def penalties():
    """`penalties(function, arrays, layer=None, compiled=False)`: see `_penalties`."""
    return _penalties


@pytest.fixture(scope="session")
def slopes():
    """`slopes(function, arrays, delta=1e-2)`: see `_slopes`."""
    return _slopes


def _gradients(
    function: Callable,
    arrays: Sequence[Any] = (),
    layer: keras.layers.Layer | None = None,
    compiled: bool = False,
) -> list[np.ndarray]:
    """The gradient of the number `function(*arrays)`, zeros where it does not depend.

    First by each array, then by each trainable weight of `layer`. `compiled` makes one graph of it
    where the backend has graphs.
    """
    tensors = [keras.ops.convert_to_tensor(array) for array in arrays]
    variables = [] if layer is None else layer.trainable_variables
    found = globals()[f"_{BACKEND}_gradients"](function, tensors, variables, compiled)
    return [np.array(keras.ops.convert_to_numpy(gradient)) for gradient in found]


def _penalties(
    function: Callable,
    arrays: Sequence[Any] = (),
    layer: keras.layers.Layer | None = None,
    compiled: bool = False,
) -> list[np.ndarray]:
    """The gradients of a gradient penalty: the sum of squares of all that `_gradients` gives."""
    tensors = [keras.ops.convert_to_tensor(array) for array in arrays]
    variables = [] if layer is None else layer.trainable_variables
    found = globals()[f"_{BACKEND}_penalties"](function, tensors, variables, compiled)
    return [np.array(keras.ops.convert_to_numpy(gradient)) for gradient in found]


def _squares(gradients):
    return sum(keras.ops.sum(keras.ops.square(gradient)) for gradient in gradients)


def _tensorflow_penalties(function, tensors, variables, compiled):
    def penalty(*tensors):
        return _squares(_tensorflow_gradients(function, tensors, variables, compiled=False))

    return _tensorflow_gradients(penalty, tensors, variables, compiled)


def _jax_penalties(function, tensors, variables, compiled):
    import jax

    def value(tensors, values):
        with keras.StatelessScope(state_mapping=zip(variables, values)):
            return function(*tensors)

    first = jax.grad(value, argnums=(0, 1))
    compute = jax.grad(lambda *at: _squares(jax.tree.leaves(first(*at))), argnums=(0, 1))
    values = [variable.value for variable in variables]
    by_tensor, by_variable = (jax.jit(compute) if compiled else compute)(tensors, values)
    return [*by_tensor, *by_variable]


def _torch_penalties(function, tensors, variables, compiled):
    import torch

    with torch.enable_grad():
        tensors = [tensor.clone().requires_grad_() for tensor in tensors]
        watched = [*tensors, *(variable.value for variable in variables)]
        value = function(*tensors) + sum(0.0 * tensor.sum() for tensor in watched)
        first = torch.autograd.grad(value, watched, create_graph=True)
        penalty = _squares(first) + sum(0.0 * tensor.sum() for tensor in watched)
        return torch.autograd.grad(penalty, watched)


def _tensorflow_gradients(function, tensors, variables, compiled):
    import tensorflow as tf

    def compute(*tensors):
        watched = [*tensors, *(variable.value for variable in variables)]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = function(*tensors)
        found = tape.gradient(value, watched, unconnected_gradients="zero")
        return [tf.convert_to_tensor(gradient) for gradient in found]

    return (tf.function(compute) if compiled else compute)(*tensors)


def _jax_gradients(function, tensors, variables, compiled):
    import jax

    def value(tensors, values):
        with keras.StatelessScope(state_mapping=zip(variables, values)):
            return function(*tensors)

    compute = jax.grad(value, argnums=(0, 1))
    values = [variable.value for variable in variables]
    by_tensor, by_variable = (jax.jit(compute) if compiled else compute)(tensors, values)
    return [*by_tensor, *by_variable]


def _torch_gradients(function, tensors, variables, compiled):
    import torch

    with torch.enable_grad():
        tensors = [tensor.clone().requires_grad_() for tensor in tensors]
        watched = [*tensors, *(variable.value for variable in variables)]
        # The added zero is for what depends on none of them, which PyTorch refuses.
        value = function(*tensors) + sum(0.0 * tensor.sum() for tensor in watched)
        return torch.autograd.grad(value, watched)


def _slopes(function: Callable, arrays: Sequence[Any], delta: float = 1e-2) -> list[np.ndarray]:
    """The slope of the number `function(*arrays)` along each entry, by central differences."""
    if BACKEND == "jax":
        import jax

        function = jax.jit(function)

    def value(arrays):
        return float(function(*(keras.ops.convert_to_tensor(array) for array in arrays)))

    found = [np.zeros(array.shape) for array in arrays]
    for number, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [array.copy() for array in arrays]
                moved[number][place] += sign * delta
                ends.append(value(moved))
            found[number][place] = (ends[0] - ends[1]) / (2 * delta)
    return found
