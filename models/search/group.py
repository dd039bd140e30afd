"""What a search asks of a decoder beside its steps."""

from typing import Any

from keras import ops, tree


def prepared(decoder: Any, memory: Any) -> Any:
    """What `decoder` makes of `memory` before the first step, all of it tensors."""
    # A part may be left out.
    memory = tree.map_structure(lambda x: x if x is None else ops.convert_to_tensor(x), memory)
    return decoder.prepare(memory)


def given_weights(weights: Any) -> Any:
    """The weights of a step, where a search needs them."""
    if weights is None:
        raise ValueError(
            "`with_weights` and `coverage_penalty` need the weights of every step, and the "
            "decoder's `step` gives none. Received: weights=None."
        )
    return weights
