"""What an encoder hands to a decoder."""

from typing import Any, NamedTuple


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
    """

    states: Any
    mask: Any
    summary: Any
    keys: Any = ()
    inner: Any = ()
    grid: Any = ()
