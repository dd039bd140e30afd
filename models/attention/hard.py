"""Hard attention: one position, drawn."""

from typing import Literal

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.scored import ScoredAttention


@keras.saving.register_keras_serializable(package="pairloom")
class HardAttention(ScoredAttention):
    """Attends to one position, drawn: `c = m_j`, `j ~ softmax(score(q, m))`.

    Xu et al. (2015), section 4.1. When not training, the likeliest position is taken. A draw has
    no gradient, so there are two ways to learn it:

    - `"reinforce"`: the weights that come back are 0 and 1, but the gradient of the 1 is that of
      the drawn position's log probability. `losses.Reinforce` turns it into an estimate of the
      loss's gradient. Draws alone learn slowly, so that a share of them is replaced by what is
      expected of them, the soft weights, as in the paper.
    - `"straight_through"`: the draw's gradient is taken to be that of the probabilities, Bengio et
      al. (2013): biased, with little variance, no loss of its own.

    Args:
        score: A score layer, such as `AdditiveScore(128)`.
        gradient: `"reinforce"` or `"straight_through"`.
        expected_share: Share of the draws of `"reinforce"` that are replaced by soft weights while
            training.
        seed: Of the draws.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)`, True where there is something.
        training: Whether to draw, rather than to take the likeliest.

    Returns:
        `(context, weights)`: `(batch, query_time, memory_units)` and
        `(batch, query_time, memory_time)`, one weight of each row being 1. A row with nothing to
        attend to gets zeros.
    """

    draws = True

    def __init__(
        self,
        score: keras.layers.Layer,
        gradient: Literal["reinforce", "straight_through"] = "reinforce",
        expected_share: float = 0.5,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(score, **kwargs)
        if gradient not in ("reinforce", "straight_through"):
            raise ValueError(
                "`gradient` must be 'reinforce' or 'straight_through'. "
                f"Received: gradient={gradient!r}."
            )
        if not 0.0 <= expected_share <= 1.0:
            raise ValueError(
                "`expected_share` must be between 0 and 1. "
                f"Received: expected_share={expected_share}."
            )
        self.gradient = gradient
        self.expected_share = expected_share
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def draw(self, shape):
        """Gumbel noise: the largest of scores plus noise is a draw from their softmax.

        One column more than the memory has decides between a draw and what is expected of it.
        """
        *leading, time = shape
        shape = (*leading, time + 1)
        uniform = keras.random.uniform(shape, 1e-20, 1.0, "float32", self.seed_generator)
        return -ops.log(-ops.log(uniform))

    def attend(self, scores, mask, query, multiply, position, noise, training):
        scores = ops.cast(scores, "float32")
        if mask is not None:
            scores = ops.where(mask, scores, -1e9)
        if not training:
            weights = _one_hot(scores, mask, query.dtype)
            return multiply("memory", weights), weights
        if noise is None:
            noise = self.draw(ops.shape(scores))
        noise, decides = noise[..., :-1], noise[..., -1:]
        chosen = ops.stop_gradient(_one_hot(scores + noise, mask, "float32"))
        probabilities = masked_softmax(scores, mask)
        if self.gradient == "straight_through":
            weights = chosen + probabilities - ops.stop_gradient(probabilities)
            weights = ops.cast(weights, query.dtype)
            return multiply("memory", weights), weights
        log_probability = ops.log_softmax(scores, -1)
        weights = chosen * (1.0 + log_probability - ops.stop_gradient(log_probability))
        # exp(-exp(-x)) of Gumbel noise is the uniform number that it was made from.
        expected = ops.exp(-ops.exp(-decides)) < self.expected_share
        context = multiply(
            "memory", ops.cast(ops.where(expected, probabilities, chosen), query.dtype)
        )
        return context, ops.cast(ops.where(expected, probabilities, weights), query.dtype)

    def get_config(self):
        own = {
            "gradient": self.gradient,
            "expected_share": self.expected_share,
            "seed": self.seed,
        }
        return {**super().get_config(), **own}


def _one_hot(scores, mask, dtype: str):
    """1 at the largest score of each row; zeros in a row where the mask leaves nothing."""
    hot = ops.one_hot(ops.argmax(scores, -1), ops.shape(scores)[-1], dtype=dtype)
    return hot if mask is None else hot * ops.cast(mask, dtype)
