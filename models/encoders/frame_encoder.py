"""An encoder of clips."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from pairloom.models.encoders.convolution import Convolution
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.recurrent_stack import RecurrentStack
from pairloom.models.memory import Memory
from pairloom.models.settings import Count, EncoderCellName, Share

_GREY = 127.5


@keras.saving.register_keras_serializable(package="pairloom")
class FrameEncoder(Encoder):
    """Looks at each frame of a clip, and runs recurrent layers over what it saw.

    `h_t = RNN(h_{t-1}, CNN(frame_t))`, where the CNN's map is averaged over its locations:
    Donahue et al. (2015).

    Args:
        backbone: `"small"`, `"residual"`, or the name of a model in `keras.applications`; see
            `Convolution`.
        units: Width of the states; with two directions each has half of it.
        cell: The cell's name, such as `"gru"`.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every layer reads both ways.
        dropout: Share of the frames' vectors' and the states' entries dropped in training.
        backwards: Whether one-way layers read from the end to the start.
        changes: Whether it looks, in place of each frame, at how it differs from the one before,
            `(x_t - x_{t-1}) / 2` around a middle grey: Wang et al. (2016). What stands still then
            cannot be learned by heart, which it is from a few hundred clips.
        weights: A file with the backbone's weights; None: trained from the start.
        trainable_backbone: Whether the backbone learns; None: where it has no `weights`. One with
            batch normalisation then counts padded frames in its statistics too: sort clips by
            length, or keep it fixed.
        backbone_options: What else the model in `keras.applications` is made with.

    Call arguments:
        frames: `(batch, time, height, width, 3)`, of integers or floats from 0 to 255.
        frames_mask: `(batch, time)`, True where there is a frame; None: where a frame is not 0
            throughout.

    Returns:
        A `Memory`: states `(batch, time, units)`, mask `(batch, time)`, and as summary the last
        layer's last states.
    """

    reads = "frames"

    def __init__(
        self,
        backbone: str = "small",
        units: Count = 256,
        cell: EncoderCellName = "gru",
        layers: Count = 1,
        bidirectional: bool = False,
        dropout: Share = 0.0,
        backwards: bool = False,
        changes: bool = False,
        weights: str | None = None,
        trainable_backbone: bool | None = None,
        *,
        backbone_options: Mapping[str, Any] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        policy = self.dtype_policy
        self.changes = changes
        self.convolution = Convolution(
            backbone, weights, trainable_backbone, backbone_options, dtype=policy
        )
        self.stack = RecurrentStack(
            units, cell, layers, bidirectional, dropout, backwards, dtype=policy
        )

    def build(self, frames_shape, frames_mask_shape=None):
        if len(frames_shape) != 5:
            raise ValueError(
                "`frames` must be of shape (batch, time, height, width, 3). "
                f"Received: shape {tuple(frames_shape)}."
            )
        images_shape = (None, *frames_shape[2:])
        self.convolution.build(images_shape)
        channels = self.convolution.compute_output_shape(images_shape)[-1]
        self.stack.build((*frames_shape[:2], channels))

    def call(self, frames, frames_mask=None, training=False):
        batch, time, *size = ops.shape(frames)
        mask = frames_mask
        if mask is None:
            mask = ops.any(ops.not_equal(frames, 0), axis=(2, 3, 4))
        if self.changes:
            wide = ops.cast(frames, "float32")
            before = ops.concatenate([wide[:, :1], wide[:, :-1]], axis=1)
            frames = (wide - before) / 2 + _GREY
        # To the network, a clip's frames are so many images.
        maps = self.convolution(ops.reshape(frames, (batch * time, *size)), training=training)
        vectors = ops.reshape(ops.mean(maps, axis=(1, 2)), (batch, time, maps.shape[-1]))
        states, summary, _, inner = self.stack(vectors, inputs_mask=mask, training=training)
        return Memory(states, mask, summary, inner=inner)

    def compute_output_shape(self, frames_shape, frames_mask_shape=None):
        mask = tuple(frames_shape[:2])
        states, summary, _, inner = self.stack.compute_output_shape((*mask, None))
        return Memory(states, mask, summary, inner=inner)

    def get_config(self):
        own = {"changes": self.changes}
        return {**super().get_config(), **self.convolution.settings, **self.stack.settings, **own}
