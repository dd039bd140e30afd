"""Soft, global attention."""

import keras

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.product import plain_products


@keras.saving.register_keras_serializable(package="pairloom")
class SoftAttention(keras.layers.Layer):
    """Attends to all positions at once: `c = sum_j a_j m_j`, `a = softmax(score(q, m))`.

    Bahdanau et al. (2015), equations 5 and 6; the global attention of Luong et al. (2015).

    Args:
        score: A score layer, such as `AdditiveScore(128)`.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)`, True where there is something.
        keys: What `keys(memory)` gave, for loops that ask the same memory many times.
        multiply: A loop's own product with what `kernels(memory)` names; see `scan`.

    Returns:
        `(context, weights)`: `(batch, query_time, memory_units)` and
        `(batch, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    def __init__(self, score: keras.layers.Layer, **kwargs):
        super().__init__(**kwargs)
        self.score = score

    def build(self, query_shape, memory_shape, memory_mask_shape=None, keys_shape=None):
        if not self.score.built:
            self.score.build(query_shape, memory_shape)

    def keys(self, memory):
        """The score's part that no query changes."""
        return self.score.keys(memory)

    def kernels(self, memory):
        """What queries and weights are multiplied with, by name."""
        return {**self.score.kernels(), "memory": memory}

    def call(self, query, memory, memory_mask=None, keys=None, multiply=None):
        scores = self.score(query, memory, keys=keys, multiply=multiply)
        mask = None if memory_mask is None else memory_mask[:, None, :]
        weights = masked_softmax(scores, mask)
        multiply = multiply or plain_products({"memory": memory})
        return multiply("memory", weights), weights

    def get_config(self):
        score = keras.saving.serialize_keras_object(self.score)
        return {**super().get_config(), "score": score}

    @classmethod
    def from_config(cls, config):
        score = keras.saving.deserialize_keras_object(config.pop("score"))
        return cls(score, **config)
