"""What every search returns."""

from typing import Any, NamedTuple

from keras import ops

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

    ids: Any
    lengths: Any
    scores: Any
    weights: Any


def length_factor(length: Any, penalty: float) -> Any:
    """`((5 + length) / 6) ^ penalty`, Wu et al. (2016), equation 14."""
    return ((5.0 + ops.cast(length, "float32")) / 6.0) ** penalty
