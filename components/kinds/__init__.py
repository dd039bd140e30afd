"""Kinds of fields: what `text` (and later `image`, `label`, ...) means in data.

A kind is the one place that knows how a field is read from raw bytes, checked, made a feature of a
`tf.train.Example`, and described in a feature spec. Each kind is a module of this package, named
after it, with an object `KIND`: a new kind is a new file, and nothing else changes.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["FieldError", "Kind", "find_kind", "kind_names"]


class FieldError(ValueError):
    """A value that its kind cannot take; the message completes the sentence "the field ..."."""


class Kind(Protocol):
    """How the fields of one kind are read, checked and stored."""

    name: str
    tokenized: bool
    """Whether the field is text that goes through a vocabulary of subwords."""

    def read(self, raw: bytes, max_length: int) -> Any:
        """Makes raw bytes a value, or raises `FieldError` with the reason."""

    def key(self, value: Any) -> bytes:
        """What a hashed split looks at: equal values have equal keys."""

    def show(self, value: Any) -> str:
        """The value in one line, for people."""

    def store(self, value: Any, feature: "tf.train.Feature") -> None:
        """Writes the value into the feature of an example."""

    def feature_spec(self) -> "tf.io.FixedLenFeature":
        """How the stored value is parsed."""


def kind_names() -> list[str]:
    """The names of all kinds, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_kind(name: str) -> Kind:
    """Finds a kind by its name, as `find_kind("text")`."""
    if name not in kind_names():
        raise ValueError(f"`kind` must be one of {kind_names()}. Received: kind={name!r}.")
    return importlib.import_module(f"{__name__}.{name}").KIND
