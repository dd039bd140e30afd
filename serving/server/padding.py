"""Outputs as wide as the longest text of their batch, cut back to a request's own width."""

from collections.abc import Mapping

import numpy as np

# Outputs of our signatures to what their axes behind the batch run along; all other outputs must
# have fixed sizes there. The tokens of a text say how long it is: padding is an empty token.
_AXES: dict[str, tuple[str, ...]] = {
    "source_tokens": ("source",),
    "target_tokens": ("target",),
    "token_scores": ("target",),
    "attention": ("target", "source"),
}
# An empty source is one empty token, for there must be something to attend to.
_SHORTEST = {"source": 1, "target": 0}


Shapes = Mapping[str, tuple[int | None, ...] | None]


def trimmable(shapes: Shapes) -> bool:
    """Whether outputs of these shapes can be cut back to what a part of the batch would give."""
    for name, shape in shapes.items():
        if shape is None:
            return False
        if not _varies(shape):
            continue
        axes = _AXES.get(name, ())
        if len(axes) != len(shape) - 1 or any(f"{axis}_tokens" not in shapes for axis in axes):
            return False
    return True


def trim(outputs: Mapping[str, np.ndarray], shapes: Shapes) -> dict[str, np.ndarray]:
    """The outputs of some rows, without columns that are padding in all of them."""
    if not any(map(_varies, shapes.values())):
        return dict(outputs)
    widths = {}
    for axis, shortest in _SHORTEST.items():
        tokens = outputs.get(f"{axis}_tokens")
        if tokens is not None:
            there = np.flatnonzero((tokens != b"").any(axis=0))
            widths[axis] = max(there[-1] + 1 if there.size else 0, shortest)
    trimmed = {}
    for name, array in outputs.items():
        if _varies(shapes[name]):
            own = (slice(None), *(slice(widths[axis]) for axis in _AXES[name]))
            array = array[own]
        trimmed[name] = array
    return trimmed


def _varies(shape: tuple[int | None, ...] | None) -> bool:
    return shape is not None and None in shape[1:]
