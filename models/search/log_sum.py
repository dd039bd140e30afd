"""What turns logits into log probabilities."""

from typing import Any

from keras import ops

from pairloom.models.search.tensors import take_ids


def log_sum(logits: Any, likely: Any) -> Any:
    """`log sum exp` over a vocabulary: an id's log probability is its logit less this.

    A softmax takes fewer passes than the sum, and `log sum = logit - log P` for any id. It is
    taken from one that is so likely that the logarithm loses nothing.

    Args:
        logits: `(rows, beams, vocabulary_size)` of float32.
        likely: `(rows, beams)`, an id of each, best the likeliest.

    Returns:
        `(rows, beams)`.
    """
    return take_ids(logits, likely) - ops.log(take_ids(ops.softmax(logits, axis=-1), likely))
