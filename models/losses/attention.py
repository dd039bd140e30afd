"""Losses that shape the attention itself."""

from typing import Literal

from keras import ops


def supervised_attention(
    weights, alignment, target_mask=None, reduction: Literal["mean", "sum"] = "mean"
):
    """Cross-entropy between given alignments and the weights, Liu et al. (2016), section 3.

    `-sum_t sum_j A_tj log a_tj`, the rows of `A` divided by their sums; a target position that is
    aligned with nothing counts nothing.

    Args:
        weights: `(batch, target_time, memory_time)`, as attention gives them.
        alignment: Like `weights`: 0 or 1, or any share of each position.
        target_mask: `(batch, target_time)`, True where there is something.
        reduction: `"mean"` or `"sum"`.

    Returns:
        The mean over the aligned target positions, or their sum, a float32 number.
    """
    if reduction not in ("mean", "sum"):
        raise ValueError(f"`reduction` must be 'mean' or 'sum'. Received: {reduction!r}.")
    weights, alignment = (ops.cast(x, "float32") for x in (weights, alignment))
    total = ops.sum(alignment, -1, keepdims=True)
    wanted = alignment / ops.maximum(total, 1e-9)
    losses = -ops.sum(wanted * ops.log(ops.maximum(weights, 1e-9)), -1)
    counted = total[..., 0] > 0
    if target_mask is not None:
        counted = ops.logical_and(counted, target_mask)
    counted = ops.cast(counted, "float32")
    summed = ops.sum(losses * counted)
    return summed if reduction == "sum" else summed / ops.maximum(ops.sum(counted), 1.0)


def doubly_stochastic(weights, target_mask=None, memory_mask=None):
    """How far each memory position is from being looked at once in all.

    `sum_j (1 - sum_t a_tj)^2` of each input, Xu et al. (2015), equation 14.

    Args:
        weights: `(batch, target_time, memory_time)`, as attention gives them.
        target_mask: `(batch, target_time)`, True where there is something.
        memory_mask: `(batch, memory_time)`, True where there is something.

    Returns:
        `(batch,)` in float32.
    """
    weights = ops.cast(weights, "float32")
    if target_mask is not None:
        weights = weights * ops.cast(target_mask, "float32")[..., None]
    missing = ops.square(1.0 - ops.sum(weights, 1))
    if memory_mask is not None:
        missing = missing * ops.cast(memory_mask, "float32")
    return ops.sum(missing, -1)
