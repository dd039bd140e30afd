"""Convolutional networks to be trained from the start, on a few thousand images."""

from collections.abc import Callable

import keras

__all__ = ["OWN_NETWORKS"]

# Of the small network's stages, each of which halves height and width.
CHANNELS = (32, 64, 128, 256)
# Of the residual network, behind a first layer that quarters them.
STEM, STAGES = 64, (128, 256)


def small() -> keras.Model:
    """Four stages of convolution, group normalisation (Wu and He, 2018) and ReLU."""
    images = keras.Input((None, None, 3))
    x = images
    for channels in CHANNELS:
        x = keras.layers.ReLU()(_norm(_convolved(x, channels, 3, strides=2)))
    return keras.Model(images, x, name="small")


def residual() -> keras.Model:
    """Patches of 4 by 4 pixels, and two residual stages that halve the map (He et al., 2016).

    `relu(N(W2 relu(N(W1 x))) + P x)`, P averaging two by two vectors and projecting them.
    """
    images = keras.Input((None, None, 3))
    x = keras.layers.ReLU()(_norm(_convolved(images, STEM, 4, strides=4)))
    for channels in STAGES:
        inner = keras.layers.ReLU()(_norm(_convolved(x, channels, 3, strides=2)))
        inner = _norm(_convolved(inner, channels, 3))
        x = _convolved(keras.layers.AveragePooling2D(2, padding="same")(x), channels, 1)
        x = keras.layers.ReLU()(keras.layers.Add()([x, inner]))
    return keras.Model(images, x, name="residual")


def _convolved(x, channels: int, size: int, strides: int = 1):
    # What is normalised behind it needs no bias.
    layer = keras.layers.Conv2D(channels, size, strides=strides, padding="same", use_bias=False)
    return layer(x)


def _norm(x):
    # Not over the batch: training and inference would disagree.
    return keras.layers.GroupNormalization(groups=8)(x)


OWN_NETWORKS: dict[str, Callable[[], keras.Model]] = {"small": small, "residual": residual}
