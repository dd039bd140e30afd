"""Cross-entropy of an output layer, at the price of its matrix products."""

import tensorflow as tf

from pairloom.models.product import narrowed


def projected_cross_entropy(
    features: tf.Tensor,
    table: tf.Tensor,
    bias: tf.Tensor,
    labels: tf.Tensor,
    label_smoothing: float = 0.0,
) -> tf.Tensor:
    """`-sum_v q_v log softmax(table . features + bias)_v`, a number for each row.

    `q` is `1 - label_smoothing` at the label plus `label_smoothing / vocabulary_size` everywhere,
    Szegedy et al. (2016), section 7. Over a vocabulary of thousands the passes over the logits
    cost as much as the products; here there is one softmax, and its result is the gradient.

    Args:
        features: `(rows, units)`, real positions only.
        table: `(vocabulary_size, units)`.
        bias: `(vocabulary_size,)`.
        labels: `(rows,)`.
        label_smoothing: Share of the probability that is spread over all ids.

    Returns:
        `(rows,)` in float32.
    """
    # Variables too become tensors, for a written gradient takes nothing else.
    features, table, bias, labels = (
        tf.convert_to_tensor(given) for given in (features, table, bias, labels)
    )
    if features.shape.rank not in (2, None):
        raise ValueError(
            "`features` must be `(rows, units)`: reshape, or take the real positions by "
            f"`tf.boolean_mask`. Received: shape={tuple(features.shape)}."
        )
    loss = _cross_entropy(features, table, bias, labels)
    if not label_smoothing:
        return loss
    # log softmax = logit - log sum, so smoothing needs two logits only: the label's and the mean,
    # and the mean of all logits is the product with the mean row.
    at_label = tf.reduce_sum(features * tf.gather(table, labels), -1) + tf.gather(bias, labels)
    mean_row = tf.reduce_mean(table, 0)
    mean = tf.linalg.matvec(features, mean_row) + tf.reduce_mean(bias)
    return loss + label_smoothing * tf.cast(at_label - mean, tf.float32)


@tf.custom_gradient
def _cross_entropy(features, table, bias, labels):
    rows = narrowed(table)
    narrow = tf.cast(features, rows.dtype)
    logits = tf.nn.bias_add(tf.matmul(narrow, rows, transpose_b=True), tf.cast(bias, rows.dtype))
    logits = tf.cast(logits, tf.float32)
    probabilities = tf.nn.softmax(logits)
    at_label = tf.gather(probabilities, labels, batch_dims=1)

    def from_logits():
        # The largest probability is at least 1 / vocabulary_size, so its logarithm is safe.
        log_sum = tf.reduce_max(logits, -1) - tf.math.log(tf.reduce_max(probabilities, -1))
        return log_sum - tf.gather(logits, labels, batch_dims=1)

    # The other way is two more passes over all logits, for labels whose probability is nothing.
    loss = tf.cond(tf.reduce_all(at_label > 1e-30), lambda: -tf.math.log(at_label), from_logits)

    def gradient(upstream):
        # Scaling the few features instead of all the probabilities saves a pass over them.
        given = tf.cast(probabilities, rows.dtype)
        scale = tf.cast(upstream, features.dtype)[:, None]
        scaled = scale * features
        by_row = tf.matmul(given, tf.cast(scaled, rows.dtype), transpose_a=True)
        by_row = tf.cast(by_row, table.dtype)
        by_row = tf.tensor_scatter_nd_sub(by_row, labels[:, None], scaled)
        by_bias = tf.linalg.matvec(probabilities, upstream, transpose_a=True)
        by_bias = tf.cast(by_bias, bias.dtype)
        by_bias = tf.tensor_scatter_nd_sub(by_bias, labels[:, None], scale[:, 0])
        by_feature = tf.cast(tf.matmul(given, rows), features.dtype)
        return scale * (by_feature - tf.gather(table, labels)), by_row, by_bias, None

    return loss, gradient
