"""The loss that training makes smaller."""

import tensorflow as tf

from pairloom.models import EncoderDecoder
from pairloom.models.losses import projected_cross_entropy


def target_loss(
    model: EncoderDecoder,
    source: tf.Tensor,
    target: tf.Tensor,
    *,
    label_smoothing: float = 0.0,
    training: bool = False,
    fixed_shapes: bool = False,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums the cross-entropy over the real target tokens.

    Args:
        model: Encoder and decoder.
        source: `(batch, source_time)`, padded with 0.
        target: `(batch, target_time)`, begin and end included, padded with 0.
        label_smoothing: Share of the probability that is spread over all ids.
        training: Whether dropout is on.
        fixed_shapes: Computes padded positions too and weighs them with 0, as XLA needs.

    Returns:
        `(sum of losses, number of tokens)`, both float32 scalars.
    """
    memory = model.encoder(source, training=training)
    features, _ = model.decoder.features(target[:, :-1], memory, training=training)
    labels = target[:, 1:]
    real = tf.not_equal(labels, 0)
    tokens = tf.reduce_sum(tf.cast(real, tf.float32))
    if fixed_shapes:
        features = tf.reshape(features, [-1, features.shape[-1]])
        labels = tf.reshape(labels, [-1])
    else:
        features = tf.boolean_mask(features, real)
        labels = tf.boolean_mask(labels, real)
    output = model.decoder.output_layer
    losses = projected_cross_entropy(
        features,
        tf.cast(output.table, features.dtype),
        tf.cast(output.bias, features.dtype),
        labels,
        label_smoothing,
    )
    if fixed_shapes:
        losses *= tf.cast(tf.reshape(real, [-1]), tf.float32)
    return tf.reduce_sum(losses), tokens
