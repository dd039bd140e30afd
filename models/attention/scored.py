"""What all attention modes that take a score have in common."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from pairloom.models.attention.mode import AttentionMode, attended
from pairloom.models.product import plain_products
from pairloom.models.shared_parts import adopt_policy, serialize_part


class ScoredAttention(AttentionMode):
    """A score, and what a subclass makes of it.

    Args:
        score: A score layer, such as `AdditiveScore(128)`.
        **kwargs: `dropout`, the share of the weights that is dropped from the context in training,
            and what every Keras layer takes. A `dtype` is the score's too.

    Call arguments:
        query: `(batch, query_time, query_units)`; or, as Keras's attention takes them,
            `[query, value]` or `[query, value, key]`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)` or `(batch, query_time, memory_time)`, True where there
            is something.
        keys: What `keys(memory)` gave, for loops that ask the same memory many times.
        multiply: A loop's own product with what `kernels(memory)` names; see `scan`.
        position: `(batch, query_time)`, each query's number in its sequence, for a mode that
            follows time; counted from 0 when not given.
        noise: From `draw`, batch first, for a mode that draws; drawn when
            it is needed and not given.
        training: Whether the layer is trained.
        value: `(batch, memory_time, units)`, what the context is made of; the memory when not
            given.
        mask: Of Keras's form: `[query_mask, value_mask]`.
        use_causal_mask: Whether a query sees no memory behind its own place.
        return_attention_scores: Whether the weights come back; None: in our form, not in Keras's.

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
        adopt_policy(self, kwargs, score)

    def build(self, query_shape, memory_shape=None, *others, **other_shapes):
        query_shape, memory_shape, _ = self.pair_of_shapes(query_shape, memory_shape)
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
        memory=None,
        memory_mask=None,
        keys=None,
        multiply=None,
        position=None,
        noise=None,
        training=False,
        value=None,
        mask=None,
        use_causal_mask=False,
        return_attention_scores=None,
    ):
        asked = self.asked(query, memory, value, memory_mask, mask)
        query, memory = asked.query, asked.memory
        self.check_mask(query, memory, asked.memory_mask)
        if multiply is None:
            summed = memory if asked.value is None else asked.value
            multiply = plain_products({**self.kernels(memory), "memory": summed})
        if self.drop is not None:
            multiply = self._dropping(multiply, training)
        seen, how = asked.memory_mask, {}
        if use_causal_mask:
            seen = attended(seen, ops.shape(query)[1], ops.shape(memory)[1], causal=True)
        if getattr(self.score, "counts_places", False):
            seen = how["memory_mask"] = self.score.reach(memory, seen)
        scores = self.score(query, memory, keys=keys, multiply=multiply, **how)
        if seen is not None and len(seen.shape) == 2:
            seen = seen[:, None, :]
        context, weights = self.attend(scores, seen, query, multiply, position, noise, training)
        return self.answered(asked, context, weights, return_attention_scores)

    def _dropping(self, multiply: Callable, training: bool) -> Callable:
        def dropped(name, x):
            return multiply(name, self.drop(x, training=training) if name == "memory" else x)

        return dropped

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
        policy = score.dtype_policy
        layer = super().from_config({**config, "score": score})
        score.dtype_policy = policy
        return layer
