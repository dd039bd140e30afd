"""Folds: a column that says which split a row belongs to, as in cross-validation.

`data.fold: {by: fold, test: [0], eval: [1]}` takes the rows whose `fold` is 0 to `test`, those
whose `fold` is 1 to `eval`, and all others to `train`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pairloom.components.pairs.errors import DataError

__all__ = ["Fold"]

_SPLITS = ("eval", "test")
_EXAMPLE = "{by: COLUMN, test: [0], eval: [1]}"


@dataclass(frozen=True)
class Fold:
    """Which values of a column belong to which split.

    Attributes:
        by: Name or position of the column, or the key of JSON lines.
        values: For `eval` and `test`, as far as the column decides them, the values as texts.
    """

    by: str | int
    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_section(cls, section: Mapping[str, Any] | None) -> "Fold | None":
        """Reads `data.fold`; None where there is none.

        Raises:
            DataError: It has unknown keys, no column, no values, or one value in two splits.
        """
        if not section:
            return None
        if not isinstance(section, Mapping) or not set(section) <= {"by", *_SPLITS}:
            raise DataError(f"`data.fold` must look like {_EXAMPLE}. Received: {section!r}.")
        by = section.get("by")
        # Position 0 is a column too; True is no position.
        if type(by) is not int and not (isinstance(by, str) and by):
            raise DataError(f"`data.fold.by` must name a column or a key. Received: {by!r}.")
        values = {name: _texts(section[name], name) for name in _SPLITS if name in section}
        values = {name: texts for name, texts in values.items() if texts}
        if not values:
            raise DataError(
                f"`data.fold` must give values of `{by}` for `test` or `eval`, {_EXAMPLE}. "
                f"Received: {dict(section)}."
            )
        both = sorted(set(values.get("eval", ())) & set(values.get("test", ())))
        if both:
            raise DataError(f"`data.fold` takes {both} to `eval` and to `test`: choose one.")
        return cls(by, values)

    def split_of(self, value: Any) -> str | None:
        """The split of a row with this value, or None: `train`."""
        text = _text(value)
        return next((name for name, texts in self.values.items() if text in texts), None)


def _texts(given: Any, name: str) -> tuple[str, ...]:
    values = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    if any(isinstance(value, (Mapping, list, tuple)) for value in values):
        raise DataError(f"`data.fold.{name}` must be a list of values. Received: {given!r}.")
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    """A value as it stands in a file: 3, "3" and b"3" are the same fold."""
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    return value.strip() if isinstance(value, str) else json.dumps(value)
