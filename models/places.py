"""The numbers of the places of a memory."""

from keras import ops


def count_places(mask):
    """From 0 for the first that is there: what is padded, and where, changes none of them.

    Args:
        mask: `(..., time)`, True where there is something.

    Returns:
        `(..., time)` of float32. Where there is nothing: the number of the last before it, from -1.
    """
    return ops.cumsum(ops.cast(mask, "float32"), axis=-1) - 1.0
