"""The largest of thousands."""

import tensorflow as tf

from pairloom.models.search.hypotheses import NEVER

# Of fewer logits a heap is as fast.
_MANY = 2000
_NARROWEST = 8


def top_id(logits: tf.Tensor) -> tf.Tensor:
    """The id of the largest logit, the first of equal ones."""
    return tf.argmax(logits, -1, output_type=tf.int32)


def top_ids(logits: tf.Tensor, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """`tf.math.top_k` over a vocabulary, at less cost.

    The `count` largest logits lie in the `count` blocks with the largest maxima. So most of the
    vocabulary is seen by a plain maximum alone, which is far cheaper than keeping a heap. Equal
    logits come in the order of their ids, as in `top_k`.

    Args:
        logits: `(..., vocabulary_size)`.
        count: How many, at most the vocabulary's size.

    Returns:
        `(values, ids)`, each `(..., count)`, the largest first.
    """
    size = logits.shape[-1]
    if size is None or size < _MANY or size < 4 * count * _NARROWEST:
        return tf.math.top_k(logits, count)
    width = _block_width(size, count)
    leading = tf.shape(logits)[:-1]
    logits = tf.reshape(logits, [-1, size])
    if size % width:
        # Behind all the others, so that even where nothing is likely these are not among them.
        logits = tf.pad(logits, [[0, 0], [0, -size % width]], constant_values=NEVER)
    blocks = tf.reshape(logits, [-1, -(-size // width), width])
    chosen = tf.math.top_k(tf.reduce_max(blocks, -1), count).indices
    chosen = tf.sort(chosen, axis=-1)
    kept = tf.reshape(tf.gather(blocks, chosen, batch_dims=1), [-1, count * width])
    values, places = tf.math.top_k(kept, count)
    ids = tf.gather(chosen, places // width, batch_dims=1) * width + places % width
    shape = tf.concat([leading, [count]], 0)
    return tf.reshape(values, shape), tf.reshape(ids, shape)


def _block_width(size: int, count: int) -> int:
    """The width that leaves least to look through twice; one that divides the vocabulary, if any.

    A vocabulary that none divides is copied once to be filled up.
    """
    widths = range(_NARROWEST, size // (4 * count) + 1)
    dividing = [width for width in widths if size % width == 0]
    return min(dividing or widths, key=lambda width: size // width + count * width)
