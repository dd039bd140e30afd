"""Between words, which links are of, and tokens, which attention is over."""

import tensorflow as tf

__all__ = ["found_links", "links_of_tokens"]


def links_of_tokens(
    links: tf.Tensor, source_words: tf.Tensor, target_words: tf.Tensor
) -> tf.Tensor:
    """Which tokens are linked because their words are, surely or possibly.

    Args:
        links: `(batch, input words, output words)`, 0 where there is no link.
        source_words: `(batch, source_time)`, the number of each token's word, -1 where it has none.
        target_words: `(batch, target_time)` likewise.

    Returns:
        `(batch, target_time, source_time)` of float32, 0 or 1.
    """
    linked = tf.cast(links > 0, tf.float32)
    by_source = tf.transpose(_words_taken(linked, source_words), [0, 2, 1])
    return _words_taken(by_source, target_words)


def found_links(weights: tf.Tensor, source_words: tf.Tensor, target_words: tf.Tensor) -> tf.Tensor:
    """The word of the input that each word of the output looks at most, as links.

    The weight of a word of the input is the sum of its tokens', for a word of the output the mean
    over its tokens.

    Args:
        weights: `(batch, target_time, source_time)`, as attention gives them.
        source_words: `(batch, source_time)`, the number of each token's word, -1 where it has none.
        target_words: `(batch, target_time)` likewise.

    Returns:
        `(batch,)` of strings, as `0-0 2-1`; a word that looks at nothing has no link.
    """
    weights = tf.cast(weights, tf.float32)
    source, target = _one_hot(source_words), _one_hot(target_words)
    of_source = tf.matmul(weights, source)
    summed = tf.matmul(target, of_source, transpose_a=True)
    counts = tf.reduce_sum(target, 1)[..., None]
    merged = summed / tf.maximum(counts, 1.0)  # (batch, output words, input words)
    best = tf.argmax(merged, -1, output_type=tf.int32)
    places = tf.strings.as_string(tf.range(tf.shape(best)[1]))
    links = tf.strings.as_string(best) + "-" + places + " "
    links = tf.where(tf.reduce_max(merged, -1) > 0, links, "")
    return tf.strings.strip(tf.strings.reduce_join(links, axis=1))


def _words_taken(rows: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
    """`rows (batch, words, n)` at the words of tokens: `(batch, time, n)`, 0 where is none."""
    # A word behind the last one that is linked has no row.
    there = tf.logical_and(words >= 0, words < tf.shape(rows)[1])
    taken = tf.gather(rows, tf.where(there, words, 0), batch_dims=1)
    return taken * tf.cast(there, rows.dtype)[..., None]


def _one_hot(words: tf.Tensor) -> tf.Tensor:
    """`(batch, time, words)`, at least one word wide; nothing for -1."""
    words = tf.cast(words, tf.int32)
    last = tf.reduce_max(tf.pad(words, [[0, 1], [0, 1]]))
    return tf.one_hot(words, last + 1)
