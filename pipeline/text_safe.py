"""Texts with a backslash in a PostgreSQL of ML Metadata, which cannot take them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from google.protobuf.message import Message
from ml_metadata.metadata_store.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd

__all__ = ["text_safe"]

# ASCII's own SUBSTITUTE. JSON, which most of these texts are, writes it as an escape.
_STAND_IN = "\x1a"


def text_safe(store: MetadataStore, config: mlmd.ConnectionConfig) -> MetadataStore:
    """A store that keeps any text, in whichever database.

    PostgreSQL's client quotes a text with a backslash as ` E'...'`. ML Metadata cuts off a sign at
    either end, puts quotes of its own around the rest, and the database finds no SQL in that. So
    another sign stands for the backslash there; whoever reads through such a store does not see it.

    Args:
        store: A database's.
        config: That database; others than PostgreSQL are left alone.
    """
    return cast(MetadataStore, _TextSafe(store)) if config.HasField("postgresql") else store


class _TextSafe:
    """Calls a store's methods with other texts, and gives its own back."""

    def __init__(self, store: MetadataStore):
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(_call, getattr(self._store, name))


def _call(method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    sent = [_replaced(each, "\\", _STAND_IN) for each in arguments]
    named = {name: _replaced(each, "\\", _STAND_IN) for name, each in options.items()}
    return _replaced(method(*sent, **named), _STAND_IN, "\\")


def _replaced(value: Any, old: str, new: str) -> Any:
    """The same with another text in it; what is given stays as it is."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Message):
        copy = type(value)()
        copy.CopyFrom(value)
        _replace(copy, old, new)
        return copy
    if isinstance(value, tuple):
        return tuple(_replaced(each, old, new) for each in value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_replaced(each, old, new) for each in value]
    return value


def _replace(message: Message, old: str, new: str) -> None:
    for field, value in message.ListFields():
        if field.label == field.LABEL_REPEATED:
            _replace_in_all(value, old, new)
        elif field.type == field.TYPE_MESSAGE:
            _replace(value, old, new)
        elif field.type == field.TYPE_STRING and old in value:
            setattr(message, field.name, value.replace(old, new))


def _replace_in_all(values: Any, old: str, new: str) -> None:
    """Those of a map, whose keys stay, or of a list."""
    keys = list(values) if hasattr(values, "keys") else range(len(values))
    for key in keys:
        if isinstance(values[key], Message):
            _replace(values[key], old, new)
        elif isinstance(values[key], str) and old in values[key]:
            values[key] = values[key].replace(old, new)
