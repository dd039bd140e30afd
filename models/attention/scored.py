"""What all attention modes that take a score have in common."""

from typing import Any

import keras

from pairloom.models.attention.mode import AttentionMode
from pairloom.models.product import plain_products


class ScoredAttention(AttentionMode):
    """A score, and what a subclass makes of it.

    Args:
        score: A score layer, such as `AdditiveScore(128)`.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)`, True where there is something.
        keys: What `keys(memory)` gave, for loops that ask the same memory many times.
        multiply: A loop's own product with what `kernels(memory)` names; see `scan`.
        position: `(batch, query_time)`, each query's number in its sequence, for a mode that
            follows time; counted from 0 when not given.
        noise: From `draw`, batch first, for a mode that draws; drawn when
            it is needed and not given.
        training: Whether the layer is trained.

    Returns:
        `(context, weights)`: `(batch, query_time, memory_units)` and
        `(batch, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    def __init__(self, score: keras.layers.Layer, **kwargs):
        super().__init__(**kwargs)
        self.score = score

    def build(self, query_shape, memory_shape, *others, **other_shapes):
        if len(query_shape) != 3 or len(memory_shape) != 3:
            # With two axes the batch would be taken for time, and the result be wrong in silence.
            raise ValueError(
                "Query and memory must have three axes, (batch, time, units); one query is "
                f"(batch, 1, units). Received: query {tuple(query_shape)}, "
                f"memory {tuple(memory_shape)}."
            )
        if not self.score.built:
            self.score.build(query_shape, memory_shape)

    def keys(self, memory):
        """The score's part that no query changes."""
        return self.score.keys(memory)

    def kernels(self, memory) -> dict[str, Any]:
        """What queries and weights are multiplied with, by name."""
        return {**self.score.kernels(), "memory": memory}

    def call(
        self,
        query,
        memory,
        memory_mask=None,
        keys=None,
        multiply=None,
        position=None,
        noise=None,
        training=False,
    ):
        multiply = multiply or plain_products(self.kernels(memory))
        scores = self.score(query, memory, keys=keys, multiply=multiply)
        mask = None if memory_mask is None else memory_mask[:, None, :]
        return self.attend(scores, mask, query, multiply, position, noise, training)

    def attend(self, scores, mask, query, multiply, position, noise, training):
        """From scores `(batch, query_time, memory_time)` to context and weights.

        `multiply("memory", weights)` is the weighted sum; every other kernel is used once.
        """
        raise NotImplementedError

    def get_config(self):
        score = keras.saving.serialize_keras_object(self.score)
        return {**super().get_config(), "score": score}

    @classmethod
    def from_config(cls, config):
        score = keras.saving.deserialize_keras_object(config.pop("score"))
        return cls(score, **config)
