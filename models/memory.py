"""What an encoder hands to a decoder."""

from typing import Any, NamedTuple

from keras import ops


class Memory(NamedTuple):
    """The encoded input, as every decoder takes it.

    Attributes:
        states: `(batch, time, units)`, one vector a position. Image grids are flattened to time.
        mask: `(batch, time)`, True where there is something.
        summary: `(batch, summary_units)`, what the decoder's first state is made from.
        keys: What the decoder's attention makes of `states` once for all steps; empty until
            `decoder.prepare(memory)` fills it in.
        inner: `(batch, time, inner_time)`, how each position's vector was put together where the
            encoder pooled it with attention: a sentence's weights over its words. Else empty.
        grid: `(batch, 2)` of int32, the rows and columns of an image's grid; else empty.
        query: `(batch, query_units)`, with what another input asks; else empty.
    """

    states: Any
    mask: Any
    summary: Any
    keys: Any = ()
    inner: Any = ()
    grid: Any = ()
    query: Any = ()


def as_memory(given: Any) -> Memory:
    """A memory (or the shapes of one) as a decoder needs it, from what its caller hands over.

    Functional Keras models turn a `Memory` into a plain tuple on the way; and where nothing is
    padded, people leave the mask out.

    Raises:
        TypeError: it is something else, such as an array of states.
        ValueError: its parts do not fit each other.
    """
    usable = isinstance(given, tuple | list) and 3 <= len(given) <= len(Memory._fields)
    if not usable or shape_of(given[0]) == ():
        raise TypeError(
            "Expected a Memory: what an encoder returns, or "
            f"`Memory(states, mask, summary)`. Received: {_outline(given)}."
        )
    memory = Memory(*given)
    _check_shapes(memory)
    if memory.mask is not None:
        return memory
    if isinstance(memory.states, tuple | list):
        return memory._replace(mask=tuple(memory.states[:2]))
    return memory._replace(mask=ops.ones_like(memory.states[..., 0], dtype="bool"))


def shape_of(part: Any) -> tuple | None:
    """The shape of a tensor, or a shape itself; `()` of anything else, None where unknown."""
    if isinstance(part, tuple | list):
        return tuple(part) if all(isinstance(size, int | None) for size in part) else ()
    shape = getattr(part, "shape", ())
    # TensorFlow's unknown shape has not even a length.
    return None if getattr(shape, "rank", 0) is None else tuple(shape)


def _check_shapes(memory: Memory) -> None:
    states, mask, summary = (shape_of(part) for part in memory[:3])
    if states is not None and len(states) != 3:
        raise ValueError(
            f"A memory's states must be `(batch, time, units)`. Received: states of shape {states}."
        )
    if states is None:
        return
    if memory.mask is not None and mask is not None and not fits(mask, states[:2]):
        raise ValueError(
            "A memory's mask must be `(batch, time)`, as its states have them. "
            f"Received: mask of shape {mask}, states of shape {states}."
        )
    if memory.summary is not None and summary and not fits(summary[:1], states[:1]):
        raise ValueError(
            "A memory's summary must be `(batch, summary_units)`, a row for each row of states. "
            f"Received: summary of shape {summary}, states of shape {states}."
        )


def fits(one: tuple, other: tuple) -> bool:
    """Whether two shapes may be the same, so far as they are known."""
    sizes = zip(one, other)
    return len(one) == len(other) and all(a == b or None in (a, b) for a, b in sizes)


def _outline(given: Any) -> str:
    shape = getattr(given, "shape", given)
    return f"{type(given).__name__} {tuple(shape) if isinstance(shape, tuple | list) else shape}"
