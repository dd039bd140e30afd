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
    """

    states: Any
    mask: Any
    summary: Any
    keys: Any = ()
