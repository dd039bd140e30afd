"""Cross-entropy of logits, over what is there."""

from keras import ops


def masked_cross_entropy(logits, labels, labels_mask=None, label_smoothing: float = 0.0):
    """The mean over the real labels of `-sum_v q_v log softmax(logits)_v`.

    `q` is `1 - label_smoothing` at the label plus `label_smoothing / vocabulary_size` everywhere,
    Szegedy et al. (2016), section 7.

    Args:
        logits: `(batch, time, vocabulary_size)`.
        labels: `(batch, time)` of integers.
        labels_mask: `(batch, time)`, True where there is a label; None: where it is not 0.
        label_smoothing: Share of the probability that is spread over all ids.

    Returns:
        A float32 number; 0 where there is no label at all.
    """
    if not 0.0 <= label_smoothing < 1.0:
        raise ValueError(
            "`label_smoothing` must be at least 0 and below 1. "
            f"Received: label_smoothing={label_smoothing}."
        )
    log_probabilities = ops.log_softmax(ops.cast(logits, "float32"), -1)
    places = ops.expand_dims(ops.cast(labels, "int32"), -1)
    losses = -ops.squeeze(ops.take_along_axis(log_probabilities, places, -1), -1)
    if label_smoothing:
        spread = -ops.mean(log_probabilities, -1)
        losses = (1.0 - label_smoothing) * losses + label_smoothing * spread
    real = ops.not_equal(labels, 0) if labels_mask is None else labels_mask
    real = ops.cast(real, "float32")
    # Chosen, not multiplied: what stands at padding may be infinite.
    losses = ops.where(real > 0, losses, 0.0)
    return ops.sum(losses) / ops.maximum(ops.sum(real), 1.0)
