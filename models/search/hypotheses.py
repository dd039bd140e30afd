"""What every search returns."""

from typing import NamedTuple

import tensorflow as tf

# The log probability, and the score, of what cannot be.
NEVER = float("-inf")


class Hypotheses(NamedTuple):
    """Outputs for each input: those of a search best first, samples as they were drawn.

    Attributes:
        ids: `(batch, hypotheses, time)`, the end id included, 0 behind it.
        lengths: `(batch, hypotheses)`, the end id included.
        scores: `(batch, hypotheses)`, what the search ranks by.
        weights: `(batch, hypotheses, time, memory_time)`, the attention behind each id; zeros
            behind the end. None unless it was asked for.
    """

    ids: tf.Tensor
    lengths: tf.Tensor
    scores: tf.Tensor
    weights: tf.Tensor | None


def length_factor(length: tf.Tensor, penalty: float) -> tf.Tensor:
    """`((5 + length) / 6) ^ penalty`, Wu et al. (2016), equation 14."""
    return ((5.0 + tf.cast(length, tf.float32)) / 6.0) ** penalty
