"""What a cell needs to run in our loop."""

from collections.abc import Callable, Mapping
from typing import Any

import keras

from pairloom.models.product import plain_products, product


class LoopCell:
    """A Keras cell whose input product can be made before the loop, for all steps at once.

    `cell(inputs, states)` works in `keras.layers.RNN` as always. A loop over time calls `project`
    once for all steps and what `stepper` gives at each of them: the same, and faster.

    Mixed into a Keras layer with `units`, `kernel` and `recurrent_kernel`.
    """

    units: int
    kernel: Any
    recurrent_kernel: Any

    # Settings of Keras's cells that the step below does not know, and the value that it takes.
    fixed: Mapping[str, Any] = {}

    def __init__(self, units: int, **kwargs):
        if units < 1:
            raise ValueError(f"`units` must be at least 1. Received: units={units}.")
        super().__init__(units, **kwargs)  # type: ignore[call-arg]
        for name, value in self.fixed.items():
            if getattr(self, name) != value:
                shown = getattr(value, "__name__", value)
                raise ValueError(
                    f"`{name}` of `{type(self).__name__}` must be {shown}. "
                    f"Received: {name}={kwargs.get(name)!r}."
                )

    @property
    def stock_layer(self) -> type[keras.layers.Layer] | None:
        """Keras's layer whose fused GPU kernel runs this very cell; None where there is none."""
        return None

    def call(self, inputs, states, training=False):
        return self.stepper()(self.project(inputs), states, plain_products(self.kernels()))

    def project(self, inputs, kernel=None):
        """The input product of inputs `(..., width)`, with the bias: `(..., gates * units)`.

        With `kernel`, the rows of the cell's that meet these inputs: what arises in the loop and
        meets the others is the caller's to multiply and to add.
        """
        kernel = self.kernel if kernel is None else kernel
        return product(inputs, kernel, self.input_bias(inputs.dtype))

    def kernels(self) -> dict[str, Any]:
        """The matrices of the step, as `scan` takes them."""
        return {"recurrent": self.recurrent_kernel}

    def input_bias(self, dtype: str) -> Any:
        """What is added to every input product: `(gates * units,)`."""
        raise NotImplementedError

    def stepper(self) -> Callable:
        """The step as a function that reads the other weights now, once for a whole loop.

        `step(projected (batch, gates * units), states, multiply) -> (output, states)`, each state
        and the output `(batch, units)`.
        """
        raise NotImplementedError
