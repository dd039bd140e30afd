"""An encoder of images."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from pairloom.models.encoders.convolution import Convolution
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.memory import Memory
from pairloom.models.settings import Count


@keras.saving.register_keras_serializable(package="pairloom")
class ImageEncoder(Encoder):
    """Gives a vector for each location of an image's convolutional map.

    The map's `rows * columns` vectors are projected to `units`: what Xu et al. (2015) attend to.

    Args:
        backbone: `"small"`, `"residual"`, or the name of a model in `keras.applications`; see
            `Convolution`.
        units: Width of the states.
        weights: A file with the backbone's weights; None: trained from the start.
        trainable_backbone: Whether the backbone learns; None: where it has no `weights`.
        backbone_options: What else the model in `keras.applications` is made with.

    Call arguments:
        images: `(batch, height, width, 3)`, of integers or floats from 0 to 255.

    Returns:
        A `Memory`: states `(batch, rows * columns, units)`, row after row; a mask that is True
        everywhere; as summary the states' mean, `(batch, units)`; grid `(batch, 2)`.
    """

    reads = "pixels"

    def __init__(
        self,
        backbone: str = "small",
        units: Count = 256,
        weights: str | None = None,
        trainable_backbone: bool | None = None,
        *,
        backbone_options: Mapping[str, Any] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        policy = self.dtype_policy
        self.units = units
        self.convolution = Convolution(
            backbone, weights, trainable_backbone, backbone_options, dtype=policy
        )
        self.projection = keras.layers.Dense(units, dtype=policy)

    def build(self, images_shape):
        self.convolution.build(images_shape)
        self.projection.build(self.convolution.compute_output_shape(images_shape))

    def call(self, images, training=False):
        states = self.projection(self.convolution(images, training=training))
        batch, rows, columns, _ = ops.shape(states)
        states = ops.reshape(states, (batch, rows * columns, self.units))
        mask = ops.ones((batch, rows * columns), dtype="bool")
        grid = ops.cast(ops.stack([rows, columns]), "int32")
        return Memory(
            states, mask, ops.mean(states, axis=1), grid=ops.broadcast_to(grid, (batch, 2))
        )

    def compute_output_shape(self, images_shape):
        batch, rows, columns, _ = self.convolution.compute_output_shape(images_shape)
        time = None if None in (rows, columns) else rows * columns
        return Memory(
            (batch, time, self.units), (batch, time), (batch, self.units), grid=(batch, 2)
        )

    def grid(self, images_shape) -> tuple[int | None, int | None]:
        """Rows and columns of the locations of images of that shape."""
        _, rows, columns, _ = self.convolution.compute_output_shape(images_shape)
        return rows, columns

    def get_config(self):
        return {**super().get_config(), **self.convolution.settings, "units": self.units}
