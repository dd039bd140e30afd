"""What a model looked at in one value of a field: what the pictures of a kind are drawn from."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Looked"]


@dataclass(frozen=True, eq=False)
class Looked:
    """The places of a value, and the weights over them, without padding.

    Attributes:
        tokens: The name of each place; where a place has something inside, as a sentence has words,
            a tuple of names for each. Empty: the places have no names.
        attention: `(target, places)`; None: nothing attends to them.
        inner: `(places, inner)`, the weights inside each place; None: there are none.
    """

    tokens: tuple[str, ...] | tuple[tuple[str, ...], ...] = ()
    attention: np.ndarray | None = None
    inner: np.ndarray | None = None
