"""From pixels to a map of vectors."""

import difflib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
from keras import ops

from pairloom.models.encoders.own_networks import OWN_NETWORKS


@keras.saving.register_keras_serializable(package="pairloom")
class Convolution(keras.layers.Layer):
    """A convolutional network without its head, as a layer.

    Args:
        backbone: `"small"` or `"residual"`, networks of our own (own_networks.py); or the name of a
            model in `keras.applications`, in any case.
        weights: A file with the backbone's weights, as its `save_weights` writes it (or the
            `*_notop.h5` that Keras offers for download); None: trained from the start. What is
            saved of the layer holds the weights, and needs the file no more.
        trainable_backbone: Whether the backbone learns; None: where it has no `weights`.
        backbone_options: What else the model in `keras.applications` is made with, such as
            `{"alpha": 0.35}`.

    Call arguments:
        images: `(batch, height, width, 3)`, of integers or floats from 0 to 255.

    Returns:
        `(batch, rows, columns, channels)`.
    """

    def __init__(
        self,
        backbone: str = "small",
        weights: str | None = None,
        trainable_backbone: bool | None = None,
        backbone_options: Mapping[str, Any] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        learns = weights is None if trainable_backbone is None else trainable_backbone
        self.settings = {
            "backbone": backbone,
            "trainable_backbone": learns,
            "backbone_options": dict(backbone_options or {}),
        }
        if weights is not None and not Path(weights).is_file():
            raise FileNotFoundError(
                "`weights` must be a file of the backbone's weights. "
                f"Received: weights={str(weights)!r}, which does not exist."
            )
        make, self.preprocess = _find(backbone)
        self.backbone = _make_with_policy(make, self.dtype_policy, backbone_options or {})
        if weights is not None:
            self.backbone.load_weights(weights)
        self.backbone.trainable = learns

    def build(self, images_shape):
        if len(images_shape) != 4 or images_shape[-1] != 3:
            raise ValueError(
                "`images` must be of shape (batch, height, width, 3). "
                f"Received: shape {tuple(images_shape)}."
            )

    def call(self, images, training=False):
        # Copied, for where tensors can change Keras's functions change them in place.
        images = self.preprocess(ops.copy(ops.cast(images, "float32")))
        return self.backbone(images, training=training)

    def compute_output_shape(self, images_shape):
        return tuple(self.backbone.compute_output_shape(tuple(images_shape)))

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _find(name: str) -> tuple[Callable[..., keras.Model], Callable]:
    """The network of that name, and what it wants done to pixels."""
    if name in OWN_NETWORKS:
        return OWN_NETWORKS[name], lambda images: images / 127.5 - 1.0
    known = {
        found.lower(): make
        for found, make in inspect.getmembers(keras.applications, inspect.isfunction)
    }
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), [*OWN_NETWORKS, *known], n=3, cutoff=0.4)
        names = [known[match].__name__ if match in known else match for match in near]
        hint = f" Did you mean one of {names}?" if names else ""
        raise ValueError(
            f"`backbone` must be one of {[*OWN_NETWORKS]} or a model in keras.applications. "
            f"Received: backbone={name!r}.{hint}"
        )
    make = known[name.lower()]

    def headless(**options):
        return make(include_top=False, weights=None, input_shape=(None, None, 3), **options)

    return headless, inspect.getmodule(make).preprocess_input  # type: ignore[union-attr]


def _make_with_policy(make: Callable[..., keras.Model], policy, options) -> keras.Model:
    """The models in `keras.applications` take their types from the global policy alone."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        return make(**options)
    finally:
        keras.config.set_dtype_policy(before)
