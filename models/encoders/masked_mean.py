"""The mean of what is there."""

import keras
from keras import ops


def masked_mean(states, mask):
    """The mean of `states (batch, time, units)` where `mask (batch, time)` is True; else zeros."""
    # Half precision cannot count far, and sums of many positions leave its range.
    wide = keras.backend.result_type(states.dtype, "float32")
    here = ops.cast(mask, wide)
    total = ops.sum(ops.cast(states, wide) * here[..., None], 1)
    count = ops.maximum(ops.sum(here, 1), 1.0)
    return ops.cast(total / count[:, None], states.dtype)
