"""The part of a block that looks at one position alone."""

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class FeedForward(keras.layers.Layer):
    """A small network for every position: `V max(0, W x + b) + c`.

    Vaswani et al. (2017), equation 2.

    Args:
        hidden_units: Width of the hidden layer.

    Call arguments:
        inputs: `(..., units)`.

    Returns:
        `(..., units)`.
    """

    def __init__(self, hidden_units: int, **kwargs):
        super().__init__(**kwargs)
        if hidden_units < 1:
            raise ValueError(
                f"`hidden_units` must be at least 1. Received: hidden_units={hidden_units}."
            )
        self.hidden_units = hidden_units

    def build(self, inputs_shape):
        units = inputs_shape[-1]
        widths = {"hidden": (units, self.hidden_units), "output": (self.hidden_units, units)}
        for name, shape in widths.items():
            kernel = self.add_weight(
                shape=shape, initializer="glorot_uniform", name=f"{name}_kernel"
            )
            bias = self.add_weight(shape=shape[1:], initializer="zeros", name=f"{name}_bias")
            setattr(self, f"{name}_kernel", kernel)
            setattr(self, f"{name}_bias", bias)

    def call(self, inputs):
        hidden = ops.relu(product(inputs, self.hidden_kernel, self.hidden_bias))
        return product(hidden, self.output_kernel, self.output_bias)

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input."""
        return previous_mask

    def compute_output_shape(self, inputs_shape):
        return tuple(inputs_shape)

    def get_config(self):
        return {**super().get_config(), "hidden_units": self.hidden_units}
