"""Layers inside layers, saved so that what was one stays one."""

from collections.abc import Mapping
from typing import Any

import keras


def serialize_part(layer: keras.layers.Layer | None) -> Any:
    """The layer's configuration, under a number by which all who hold the layer find it again.

    Keras numbers only what it serialises itself, and here a layer serialises its own part.
    """
    config = keras.saving.serialize_keras_object(layer)
    return config if layer is None else {**config, "shared_object_id": id(layer)}


def adopt_policy(
    owner: keras.layers.Layer, settings: Mapping[str, Any], *parts: keras.layers.Layer | None
) -> None:
    """Hands a `dtype` that a layer was made with on to the parts that it was handed.

    Not to one that is built: its weights have their type.
    """
    if settings.get("dtype") is None:
        return
    for part in parts:
        if part is not None and not part.built:
            part.dtype_policy = owner.dtype_policy


class SharedParts:
    """Saves the layers that its maker handed over, such as an embedding that others use too.

    Mixed into a Keras layer that takes the parts as arguments and keeps them as attributes of the
    same names; those that it makes by itself are not saved, for they are made again.
    """

    part_names: tuple[str, ...] = ()
    given_parts: frozenset[str] = frozenset()

    def note_given(self, **parts: keras.layers.Layer | None) -> None:
        """Says which parts were handed over: those that are not None."""
        self.given_parts = frozenset(name for name, part in parts.items() if part is not None)

    def get_config(self) -> dict[str, Any]:
        parts = {
            name: serialize_part(getattr(self, name) if name in self.given_parts else None)
            for name in self.part_names
        }
        return {**super().get_config(), **parts}  # type: ignore[misc]

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        parts = {
            name: keras.saving.deserialize_keras_object(config.pop(name, None))
            for name in cls.part_names
        }
        return cls(**config, **parts)
