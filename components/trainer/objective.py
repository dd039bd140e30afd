"""The loss that training makes smaller."""

from dataclasses import dataclass

import keras
import tensorflow as tf

from pairloom.models import EncoderDecoder
from pairloom.models.losses import doubly_stochastic, projected_cross_entropy
from pairloom.models.scheduled_sampling import scheduled_ids


@dataclass(frozen=True)
class Objective:
    """What is made smaller beside the plain cross-entropy, and how.

    Attributes:
        label_smoothing: Share of the probability that is spread over all ids.
        coverage: Weight of the doubly stochastic regulariser.
        sampled: Draws for scheduled sampling; None: off.
        fixed_shapes: Computes padded positions too and weighs them with 0, as XLA needs.
    """

    label_smoothing: float = 0.0
    coverage: float = 0.0
    sampled: keras.random.SeedGenerator | None = None
    fixed_shapes: bool = False


PLAIN = Objective()


def target_loss(
    model: EncoderDecoder,
    source: tf.Tensor,
    target: tf.Tensor,
    objective: Objective = PLAIN,
    *,
    training: bool = False,
    sampled_share: float | tf.Tensor = 0.0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums the loss over the real target tokens.

    Args:
        model: Encoder and decoder.
        source: `(batch, source_time)`, padded with 0.
        target: `(batch, target_time)`, begin and end included, padded with 0.
        objective: What counts.
        training: Whether dropout and draws are on.
        sampled_share: Share of the fed ids that scheduled sampling replaces.

    Returns:
        `(sum of losses, number of tokens)`, both float32 scalars.
    """
    memory = model.encoder(source, training=training)
    fed, labels = target[:, :-1], target[:, 1:]
    if training and objective.sampled is not None:
        fed = scheduled_ids(model.decoder, fed, memory, sampled_share, objective.sampled)
    features, weights = model.decoder.features(fed, memory, training=training)
    real = tf.not_equal(labels, 0)
    losses = _token_losses(model.decoder, features, labels, real, objective)
    loss = tf.reduce_sum(losses)
    if training and model.reinforce is not None:
        loss += model.reinforce(features, weights, -losses, real)
    if training and objective.coverage:
        missed = doubly_stochastic(weights, real, memory.mask)
        loss += objective.coverage * tf.reduce_sum(missed)
    return loss, tf.reduce_sum(tf.cast(real, tf.float32))


def _token_losses(decoder, features, labels, real, objective: Objective) -> tf.Tensor:
    """The cross-entropy of each label, `(batch, time)`, 0 where there is none."""
    output = decoder.output_layer

    def cross_entropy(features, labels):
        return projected_cross_entropy(
            features,
            tf.cast(output.table, features.dtype),
            tf.cast(output.bias, features.dtype),
            labels,
            objective.label_smoothing,
        )

    if objective.fixed_shapes:
        flat = cross_entropy(
            tf.reshape(features, [-1, features.shape[-1]]), tf.reshape(labels, [-1])
        )
        return tf.reshape(flat, tf.shape(labels)) * tf.cast(real, tf.float32)
    places = tf.where(real)
    losses = cross_entropy(tf.gather_nd(features, places), tf.gather_nd(labels, places))
    return tf.scatter_nd(places, losses, tf.shape(labels, places.dtype))
