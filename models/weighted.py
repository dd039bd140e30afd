"""What Keras's layers let their maker say of weights: how they start, and what holds them."""

from typing import Any, ClassVar

import keras

_HOW = ("initializer", "regularizer", "constraint")


class Weighted(keras.layers.Layer):
    """A layer that takes `<kind>_initializer`, `<kind>_regularizer` and `<kind>_constraint`.

    Mixed in before other layers; the settings go by name only.
    """

    # Kind of weights to what they start as.
    kinds: ClassVar[dict[str, Any]] = {"kernel": "glorot_uniform"}

    def __init__(self, *args, **kwargs):
        how = {
            f"{kind}_{what}": kwargs.pop(f"{kind}_{what}", start if what == "initializer" else None)
            for kind, start in self.kinds.items()
            for what in _HOW
        }
        super().__init__(*args, **kwargs)
        self._how = how

    def add(self, name: str, shape: tuple, kind: str = "kernel") -> Any:
        """A weight of that kind."""
        initializer, regularizer, constraint = (self._how[f"{kind}_{what}"] for what in _HOW)
        if isinstance(initializer, keras.initializers.Initializer):
            # One that is used twice would give two weights of a shape the same numbers.
            initializer = initializer.clone()
        return self.add_weight(
            shape=shape,
            initializer=initializer,
            regularizer=keras.regularizers.get(regularizer),
            constraint=keras.constraints.get(constraint),
            name=name,
        )

    def get_config(self):
        how = {
            name: value
            if value is None or isinstance(value, str)
            else keras.saving.serialize_keras_object(value)
            for name, value in self._how.items()
        }
        return {**super().get_config(), **how}

    @classmethod
    def from_config(cls, config):
        names = [f"{kind}_{what}" for kind in cls.kinds for what in _HOW]
        read = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in names
            if isinstance(config.get(name), dict)
        }
        return super().from_config({**config, **read})
