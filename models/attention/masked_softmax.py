"""Softmax over what is there."""

from keras import ops


def masked_softmax(scores, mask=None):
    """Softmax over the last axis in float32; a row with nothing to attend to gets zeros.

    Args:
        scores: `(..., time)`.
        mask: Broadcasts against `scores`, True where there is something; None: everywhere.

    Returns:
        Weights like `scores`, in its type.
    """
    dtype = scores.dtype
    scores = ops.cast(scores, "float32")
    if mask is None:
        return ops.cast(_softmax(scores), dtype)
    # A finite floor: the softmax of a row of -inf is NaN, and so is its gradient.
    weights = _softmax(ops.where(mask, scores, -1e9))
    return ops.cast(weights * ops.cast(mask, "float32"), dtype)


def _softmax(scores):
    # Of one position, such as a decoder's first: the same 1, without Keras's warning about it.
    if scores.shape[-1] == 1:
        return ops.exp(ops.log_softmax(scores, axis=-1))
    return ops.softmax(scores, axis=-1)
