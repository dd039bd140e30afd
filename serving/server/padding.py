"""Outputs as wide as the longest value of their batch, cut back to a request's own width.

The model's description says what the axes of an output run along, and which outputs hold the tokens
along them: padding is an empty token. An output whose size varies along an axis that nobody states
cannot be cut.
"""

from collections.abc import Mapping

import numpy as np

from pairloom.serving.description import Description

Shapes = Mapping[str, tuple[int | None, ...] | None]


def trimmable(shapes: Shapes, description: Description | None = None) -> bool:
    """Whether outputs of these shapes can be cut back to what a part of the batch would give.

    Args:
        shapes: Output to its sizes, batch first, None where a size varies.
        description: The model's; None: sizes must be fixed.
    """
    told = {axis for name in _shortest(shapes, description) for axis in _axes(name, description)}
    for name, shape in shapes.items():
        axes = _axes(name, description)
        if shape is None or (_varies(shape) and len(axes) != len(shape) - 1):
            return False
        if any(size is None and axis not in told for axis, size in zip(axes, shape[1:])):
            return False
    return True


def trim(
    outputs: Mapping[str, np.ndarray], shapes: Shapes, description: Description | None = None
) -> dict[str, np.ndarray]:
    """The outputs of some rows, without what is padding in all of them.

    Args:
        outputs: Some rows of a batch.
        shapes: As they are `trimmable`.
        description: The model's.
    """
    if not any(map(_varies, shapes.values())):
        return dict(outputs)
    widths: dict[str, int] = {}
    for name, shortest in _shortest(outputs, description).items():
        there = outputs[name] != b""
        for place, axis in enumerate(_axes(name, description), 1):
            across = tuple(other for other in range(there.ndim) if other != place)
            used = np.flatnonzero(there.any(axis=across))
            width = used[-1] + 1 if used.size else 0
            widths[axis] = max(width, shortest, widths.get(axis, 0))
    trimmed = {}
    for name, array in outputs.items():
        shape = shapes[name]
        if shape is not None and _varies(shape):
            sizes = zip(_axes(name, description), shape[1:])
            own = [slice(widths[axis] if size is None else None) for axis, size in sizes]
            kept = (slice(None), *own)
            array = array[kept]
        trimmed[name] = array
    return trimmed


def _shortest(names: Mapping[str, object], description: Description | None) -> dict[str, int]:
    """Those of the outputs that hold tokens, to how long their axes are at least."""
    if description is None:
        return {}
    # An empty input is one empty token, for there must be something to attend to.
    shortest = {field.tokens: 1 for field in description.inputs}
    shortest.setdefault(description.output.tokens, 0)
    return {name: least for name, least in shortest.items() if name and name in names}


def _axes(name: str, description: Description | None) -> tuple[str, ...]:
    return tuple(description.axes.get(name, ())) if description is not None else ()


def _varies(shape: tuple[int | None, ...] | None) -> bool:
    return shape is not None and None in shape[1:]
