"""Several memories made one, for a decoder that takes one."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from pairloom.models.encoders.encoder import Encoder
from pairloom.models.memory import Memory, as_memory

__all__ = ["JOINS", "ConcatJoin", "QueryJoin"]


@keras.saving.register_keras_serializable(package="pairloom")
class ConcatJoin(Encoder):
    """One memory behind the other: `[h^1_1 ... h^1_n h^2_1 ... h^2_m]`, the summaries side by side.

    States of other widths than the first memory's are projected to that width.

    Call arguments:
        memories: Field to `Memory`, in the order that their positions come in.

    Returns:
        A `Memory` of all positions.
    """

    def build(self, memories_shape):
        shapes = {name: as_memory(shape) for name, shape in memories_shape.items()}
        width = next(iter(shapes.values())).states[-1]
        self.projections: dict[str, keras.layers.Dense] = {}
        for name, shape in shapes.items():
            if shape.states[-1] != width:
                self.projections[name] = keras.layers.Dense(width, dtype=self.dtype_policy)
                self.projections[name].build(shape.states)

    def call(self, memories: Mapping[str, Memory]):
        parts = {name: as_memory(memory) for name, memory in memories.items()}
        states = [
            self.projections[name](part.states) if name in self.projections else part.states
            for name, part in parts.items()
        ]
        return Memory(
            ops.concatenate(states, 1),
            ops.concatenate([part.mask for part in parts.values()], 1),
            ops.concatenate([part.summary for part in parts.values()], -1),
        )

    def compute_output_shape(self, memories_shape):
        shapes = [as_memory(shape) for shape in memories_shape.values()]
        times = [shape.states[1] for shape in shapes]
        time = None if None in times else sum(times)
        batch, _, width = shapes[0].states
        summary = (batch, sum(shape.summary[-1] for shape in shapes))
        return Memory((batch, time, width), (batch, time), summary)

    @staticmethod
    def spans(sizes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Field to where its positions start and end in the joined memory, given their number."""
        found, start = {}, 0
        for name, size in sizes.items():
            found[name] = (start, start + size)
            start = start + size
        return found


@keras.saving.register_keras_serializable(package="pairloom")
class QueryJoin(Encoder):
    """One field asks, the other is looked at.

    The memory is that of the field which is looked at; its `query` is the summary of the one that
    asks, and its summary both side by side.

    Args:
        asks: The field that asks.

    Call arguments:
        memories: Field to `Memory`, of two fields.

    Returns:
        A `Memory` with a `query`.
    """

    def __init__(self, asks: str, **kwargs):
        super().__init__(**kwargs)
        self.asks = asks

    def build(self, memories_shape):
        self._check(memories_shape)

    def call(self, memories: Mapping[str, Memory]):
        asking, seen = self._pair(memories)
        summary = ops.concatenate([asking.summary, seen.summary], -1)
        return seen._replace(summary=summary, query=asking.summary)

    def compute_output_shape(self, memories_shape):
        asking, seen = self._pair(memories_shape)
        summary = (seen.summary[0], asking.summary[-1] + seen.summary[-1])
        return seen._replace(summary=summary, query=asking.summary)

    def _pair(self, memories: Mapping[str, Any]) -> tuple[Memory, Memory]:
        [seen] = (name for name in memories if name != self.asks)
        return as_memory(memories[self.asks]), as_memory(memories[seen])

    def _check(self, memories: Mapping[str, Any]) -> None:
        if len(memories) != 2 or self.asks not in memories:
            raise ValueError(
                f"Expected two inputs, one of them `{self.asks}`. Received: {list(memories)}."
            )

    def spans(self, sizes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Field to where its positions start and end: those of the field that is looked at."""
        return {name: (0, size) for name, size in sizes.items() if name != self.asks}

    def get_config(self):
        return {**super().get_config(), "asks": self.asks}


JOINS = {"concat": ConcatJoin, "query": QueryJoin}
