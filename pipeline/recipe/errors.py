"""The one error that a wrong recipe gives."""

import difflib
from collections.abc import Iterable

from pairloom.pipeline.errors import UserError


class RecipeError(UserError):
    """A recipe that cannot be used, told in terms of the recipe.

    Args:
        key: Dotted key, `training.epochs`; empty for the whole file.
        expected: What would have been right.
        received: What was there.
        file: The recipe's path, or the `--set` argument that brought the value.
        line: Line of the key in the file, from 1; 0 where there is none.
        nearest: The known name that the user probably meant.
    """

    def __init__(
        self,
        key: str,
        expected: str,
        received: str,
        file: str = "",
        line: int = 0,
        nearest: str = "",
    ):
        self.key = key
        self.expected = expected
        self.received = received
        self.file = file
        self.line = line
        self.nearest = nearest
        super().__init__(str(self))

    def __str__(self) -> str:
        place = self.file + (f", line {self.line}" if self.line else "")
        head = ": ".join(part for part in (place, f"`{self.key}`" if self.key else "") if part)
        text = f"{head}\n  expected: {self.expected}\n  received: {self.received}"
        return text + (f"\n  did you mean `{self.nearest}`?" if self.nearest else "")


def nearest_name(name: str, known: Iterable[str]) -> str:
    """The known name most like `name`, or an empty string where none is like it."""
    found = difflib.get_close_matches(str(name), [str(k) for k in known], n=1, cutoff=0.6)
    return found[0] if found else ""
