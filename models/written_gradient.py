"""Gradients written out by hand, where that saves a loop time."""

from collections.abc import Callable

import keras
from keras import ops


def written_gradient(function: Callable) -> Callable:
    """Lets TensorFlow use the gradient that `function` returns beside its value.

    `function(*args) -> (value, gradient)`, and `gradient(upstream)` gives one for each argument.
    The gradient may itself be differentiated, so it is to be written with what can be.

    The other backends derive their own: what is saved is what TensorFlow asks at every step of a
    loop about unknown shapes, and JAX has no forward mode through a gradient that was written.
    """
    if keras.backend.backend() == "tensorflow":
        return ops.custom_gradient(function)
    return lambda *args: function(*args)[0]
