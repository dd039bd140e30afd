"""A decoder of vectors."""

from collections.abc import Sequence

import keras

from pairloom.models.decoders.decoder import Decoder
from pairloom.models.memory import as_memory
from pairloom.models.settings import Activation


@keras.saving.register_keras_serializable(package="pairloom")
class VectorDecoder(Decoder):
    """Makes a vector of a memory's summary: the decoder of an autoencoder.

    `y = f(W_n g(... g(W_1 s + b_1) ...) + b_n)` with `s` the summary. It mirrors a
    `FeatureEncoder` that has the same activation and the same hidden widths in reverse order.

    Args:
        width: Width of the vector.
        hidden: Widths of the dense layers before the last one.
        activation: `g`, of the hidden layers; None: linear.
        output_activation: `f`, of the last layer; None: linear.

    Call arguments:
        memory: A `Memory`.

    Returns:
        `(batch, width)`.
    """

    writes = "vectors"
    sized = "width"

    def __init__(
        self,
        width: int,
        hidden: Sequence[int] = (),
        activation: Activation | None = None,
        output_activation: Activation | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if width < 1:
            raise ValueError(f"`width` must be at least 1. Received: width={width}.")
        self.settings = {
            "width": width,
            "hidden": list(hidden),
            "activation": activation,
            "output_activation": output_activation,
        }
        policy = self.dtype_policy
        self.dense = [keras.layers.Dense(units, activation, dtype=policy) for units in hidden]
        self.dense.append(keras.layers.Dense(width, output_activation, dtype=policy))

    def build(self, memory_shape):
        shape = as_memory(memory_shape).summary
        for dense in self.dense:
            dense.build(shape)
            shape = (shape[0], dense.units)

    def call(self, memory, training=False):
        vector = as_memory(memory).summary
        for dense in self.dense:
            vector = dense(vector)
        return vector

    def compute_output_shape(self, memory_shape):
        return as_memory(memory_shape).summary[0], self.settings["width"]

    def get_config(self):
        return {**super().get_config(), **self.settings}
