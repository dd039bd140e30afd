"""What a model looked at in one value of a field: what the pictures of a kind are drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Looked", "Picture"]


@dataclass(frozen=True, eq=False)
class Looked:
    """The places of a value, and the weights over them, without padding.

    Attributes:
        tokens: The name of each place; where a place has something inside, as a sentence has words,
            a tuple of names for each. Empty: the places have no names.
        attention: `(target, places)`; None: nothing attends to them.
        inner: `(places, inner)`, the weights inside each place; None: there are none.
        grid: Rows and columns, where the places lie in a grid, row after row; None: they do not.
    """

    tokens: tuple[str, ...] | tuple[tuple[str, ...], ...] = ()
    attention: np.ndarray | None = None
    inner: np.ndarray | None = None
    grid: tuple[int, int] | None = None

    @property
    def maps(self) -> np.ndarray | None:
        """The attention as `(target, rows, columns)`; None without a grid or attention."""
        if self.attention is None or self.grid is None:
            return None
        return self.attention.reshape(len(self.attention), *self.grid)


@dataclass(frozen=True, eq=False)
class Picture:
    """What a kind wants drawn into a file, told to who can draw.

    Attributes:
        name: One of the pictures of `pairloom.serving.pictures`, such as `alignment`.
        arguments: What it is drawn from, by name.
    """

    name: str
    arguments: Mapping[str, Any]
