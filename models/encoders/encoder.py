"""What all encoders have in common."""

import keras


class Encoder(keras.layers.Layer):
    """A layer that returns a `Memory`, or the parts of one.

    Its `compute_output_shape` gives the same of shapes, from which a decoder can be built.
    """

    def compute_mask(self, inputs, previous_mask=None):
        """The memory has its own."""
        return None

    def compute_output_spec(self, *args, **kwargs):
        # From shapes alone, Keras would take a memory's empty fields for scalars, and its mask
        # for floats; so the call itself is traced.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)
