"""What all attention modes that take a score have in common."""

from typing import Any

import keras

from pairloom.models.attention.mode import AttentionMode
from pairloom.models.product import plain_products
from pairloom.models.shared_parts import serialize_part


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
        if not isinstance(score, keras.layers.Layer):
            raise TypeError(
                "`score` must be a score layer, such as `GeneralScore()`; `make_score` of "
                f"pairloom.models.scores makes one from its name. Received: score={score!r}."
            )
        self.score = score

    def build(self, query_shape, memory_shape, *others, **other_shapes):
        self.check_axes(query_shape, memory_shape)
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
        self.check_mask(memory, memory_mask)
        multiply = multiply or plain_products(self.kernels(memory))
        how = {}
        if getattr(self.score, "counts_places", False):
            memory_mask = how["memory_mask"] = self.score.reach(memory, memory_mask)
        scores = self.score(query, memory, keys=keys, multiply=multiply, **how)
        mask = None if memory_mask is None else memory_mask[:, None, :]
        return self.attend(scores, mask, query, multiply, position, noise, training)

    def attend(self, scores, mask, query, multiply, position, noise, training):
        """From scores `(batch, query_time, memory_time)` to context and weights.

        `multiply("memory", weights)` is the weighted sum; every other kernel is used once.
        """
        raise NotImplementedError

    def get_config(self):
        return {**super().get_config(), "score": serialize_part(self.score)}

    @classmethod
    def from_config(cls, config):
        score = keras.saving.deserialize_keras_object(config.pop("score"))
        return cls(score, **config)
