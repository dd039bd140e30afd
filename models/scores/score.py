"""What all scores have in common."""

from typing import Any, ClassVar

from pairloom.models.weighted import Weighted


class Score(Weighted):
    """A layer from `(batch, query_time, query_units)` and a memory to a number for each pair.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        keys: What `keys(memory)` gave; made anew when not given.
        multiply: A loop's own product with what `kernels()` names; see `scan`.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    kinds: ClassVar[dict[str, Any]] = {}

    def keys(self, memory):
        """What no query changes: the memory itself, where there is nothing to prepare."""
        return memory

    def kernels(self):
        """The matrices that meet every query, by name."""
        return {}

    def compute_mask(self, query, previous_mask=None):
        """A number for a pair is neither the one's nor the other's padding."""
        return None

    def compute_output_shape(self, query_shape, memory_shape, keys_shape=None, **other_shapes):
        return (*query_shape[:2], memory_shape[1])
