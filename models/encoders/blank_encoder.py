"""What a decoder starts from where there is nothing to read."""

import keras
from keras import ops

from pairloom.models.encoders.encoder import Encoder
from pairloom.models.memory import Memory


@keras.saving.register_keras_serializable(package="pairloom")
class BlankEncoder(Encoder):
    """A memory without positions, whose summary is learned: the `s_0` of a language model.

    Args:
        units: Width of the summary.

    Call arguments:
        like: Any tensor, batch first: the memory has as many rows.

    Returns:
        A `Memory`: states `(batch, 0, units)`, mask `(batch, 0)`, summary `(batch, units)`, the
        same in every row.
    """

    def __init__(self, units: int = 256, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, like_shape):
        initializer = keras.initializers.RandomNormal(stddev=0.1)
        self.start = self.add_weight(shape=(self.units,), initializer=initializer, name="start")

    def call(self, like):
        batch = ops.shape(like)[0]
        start = ops.cast(self.start, self.compute_dtype)
        summary = ops.broadcast_to(start, (batch, self.units))
        states = ops.zeros((batch, 0, self.units), dtype=self.compute_dtype)
        return Memory(states, ops.zeros((batch, 0), dtype="bool"), summary)

    def compute_output_shape(self, like_shape):
        batch = like_shape[0]
        return Memory((batch, 0, self.units), (batch, 0), (batch, self.units))

    def get_config(self):
        return {**super().get_config(), "units": self.units}
