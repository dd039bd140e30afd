"""What searches need beside `keras.ops`, on backends whose loop is Python's."""

import contextlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops, tree

from pairloom.models.search.hypotheses import NEVER
from pairloom.models.search.philox import uniform


def loop(going_on: Callable, advance: Callable, state: tuple) -> tuple:
    """`state = advance(*state)` as long as `going_on(*state)`; nothing of it is differentiated."""
    with _no_gradients():
        while bool(going_on(*state)):
            state = advance(*state)
    return state


def keep_rows(keep: Any, group: Any) -> Any:
    """The rows of every tensor in `group` where `keep (rows,)` is True."""
    if _is_traced(keep):
        raise TypeError(
            "A search ends when the decoder says so, which `jax.jit` cannot trace. Call the search "
            "outside of it."
        )
    kept = ops.convert_to_numpy(keep)
    if kept.all():
        return group
    rows = np.flatnonzero(kept).astype("int32")
    return tree.map_structure(lambda x: ops.take(x, rows, axis=0), group)


def take_beams(x: Any, beams: Any) -> Any:
    """Of `x (rows, beams, ...)` in each row the `beams (rows, n)`: `(rows, n, ...)`."""
    rows = ops.arange(ops.shape(x)[0], dtype="int32")[:, None]
    return x[rows, beams]


def take_ids(x: Any, ids: Any) -> Any:
    """Of `x (rows, beams, size)` what is at `ids (rows, beams, ...)`, in their shape."""
    if len(ids.shape) == 2:
        return ops.take_along_axis(x, ids[..., None], -1)[..., 0]
    return ops.take_along_axis(x, ids, -1)


def top_k(x: Any, count: int) -> tuple[Any, Any]:
    """The largest of the last axis and their places, the first of equal ones first."""
    if keras.backend.backend() == "jax":
        return ops.top_k(x, count)
    # PyTorch's own says nothing of the order of equal ones; its sort keeps it.
    places = ops.argsort(-x, axis=-1)[..., :count]
    return ops.take_along_axis(x, places, -1), places


def bar_ids(logits: Any, ids: Any, barred: Any) -> Any:
    """`logits (rows, beams, size)`, never at the `ids (rows, beams, n)` that are `barred`."""
    rows, beams, places = ops.nonzero(barred)
    where = ops.stack([rows, beams, ops.cast(ids[rows, beams, places], rows.dtype)], 1)
    return ops.scatter_update(logits, where, ops.full((where.shape[0],), NEVER))


def noise(seed: Any, batch: int, count: int, length: Any) -> Any:
    """`(length, batch, count)`, even between 0 and 1: what decides each step of each sample.

    The numbers are those that TensorFlow draws.
    """
    seed = np.asarray(ops.convert_to_numpy(seed) if ops.is_tensor(seed) else seed, "int64")
    rows = np.arange(batch) if seed.ndim == 0 else np.zeros_like(seed)
    numbers = rows[:, None] * 2**32 + np.arange(count)
    first = np.broadcast_to(seed.reshape(-1, 1), numbers.shape)
    return ops.convert_to_tensor(np.moveaxis(uniform(first, numbers, int(length)), -1, 0))


def _is_traced(x: Any) -> bool:
    if keras.backend.backend() != "jax":
        return False
    import jax

    return isinstance(x, jax.core.Tracer)


def _no_gradients() -> contextlib.AbstractContextManager:
    if keras.backend.backend() != "torch":
        return contextlib.nullcontext()
    import torch

    return torch.no_grad()
