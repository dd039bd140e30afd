"""From features to logits."""

import keras
from keras import ops

from pairloom.models.product import product


@keras.saving.register_keras_serializable(package="pairloom")
class OutputLayer(keras.layers.Layer):
    """`logits = V a + b`, with `V` its own or an embedding's table.

    Args:
        vocabulary_size: The number of ids.
        embedding: The embedding layer whose weights to share; None: weights of its own.

    Call arguments:
        features: `(..., units)`.

    Returns:
        `(..., vocabulary_size)` in float32 or the layer's compute type.
    """

    def __init__(self, vocabulary_size: int, embedding: keras.layers.Embedding | None = None, **kw):
        super().__init__(**kw)
        self.vocabulary_size = vocabulary_size
        # Behind a function, so that the layer is tracked once: by the decoder that owns it.
        self._shared = (lambda: embedding) if embedding is not None else None

    def build(self, features_shape):
        if self._shared is None:
            self.kernel = self.add_weight(
                shape=(self.vocabulary_size, features_shape[-1]),
                initializer="glorot_uniform",
                name="kernel",
            )
        self.bias = self.add_weight(shape=(self.vocabulary_size,), initializer="zeros", name="bias")

    @property
    def table(self):
        """`(vocabulary_size, units)`: a row an id, as in an embedding."""
        return self.kernel if self._shared is None else self._shared().embeddings

    def call(self, features):
        return product(features, ops.transpose(ops.convert_to_tensor(self.table)), self.bias)

    def compute_mask(self, features, previous_mask=None):
        """Logits for every position."""
        return previous_mask

    def compute_output_shape(self, features_shape):
        return (*features_shape[:-1], self.vocabulary_size)

    def get_config(self):
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size}
