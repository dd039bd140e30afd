"""What turns logits into log probabilities."""

import tensorflow as tf


def log_sum(logits: tf.Tensor, likely: tf.Tensor) -> tf.Tensor:
    """`log sum exp` over a vocabulary: an id's log probability is its logit less this.

    A softmax takes fewer passes than the sum, and `log sum = logit - log P` for any id. It is
    taken from one that is so likely that the logarithm loses nothing.

    Args:
        logits: `(rows, beams, vocabulary_size)` of float32.
        likely: `(rows, beams)`, an id of each, best the likeliest.

    Returns:
        `(rows, beams)`.
    """
    probability = tf.gather(tf.nn.softmax(logits), likely, batch_dims=2)
    return tf.gather(logits, likely, batch_dims=2) - tf.math.log(probability)
