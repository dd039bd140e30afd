"""What all decoders have in common."""

from typing import Any

import keras
from keras import ops

from pairloom.models.memory import Memory, as_memory, shape_of


class Decoder(keras.layers.Layer):
    """A layer that is called with a `Memory`, or with what can be made one."""

    # The memory's place among the call's arguments.
    memory_place = 0
    # Whether it is fed what it is to write, id by id.
    fed = False

    def __call__(self, *args, **kwargs):
        # Before Keras looks at shapes: it knows none of a mask that was left out.
        place = self.memory_place
        if len(args) > place:
            memory = as_memory(args[place])
            args = (*args[:place], memory, *args[place + 1 :])
        elif "memory" in kwargs:
            memory = kwargs["memory"] = as_memory(kwargs["memory"])
        else:
            return super().__call__(*args, **kwargs)
        for other in (*args, *kwargs.values()):
            if other is not memory:
                _check_batch(other, memory)
        return super().__call__(*args, **kwargs)

    def compute_mask(self, *args, **kwargs):
        """What is made for padding is never looked at."""
        return None

    def _taken(self, memory: Any) -> Memory:
        """The memory in the type that the layer computes in, for methods that Keras does not call.

        Builds the layer where no call has built it yet.
        """
        memory = as_memory(memory)
        if not self.built:
            shapes = (shape_of(part) for part in memory[:3])
            self.build((None, None), Memory(*shapes))
        states, summary = (
            ops.cast(part, self.compute_dtype) for part in (memory.states, memory.summary)
        )
        return memory._replace(states=states, summary=summary)


def _check_batch(other: Any, memory: Memory) -> None:
    shape, states = shape_of(other), shape_of(memory.states)
    if shape and states and None not in (shape[0], states[0]) and shape[0] != states[0]:
        raise ValueError(
            "A memory has one row for each row of what it is called with. "
            f"Received: {shape[0]} rows, of shape {shape}, and a memory of {states[0]}, "
            f"its states of shape {states}."
        )
