"""Texts with a backslash in a PostgreSQL of ML Metadata, which cannot take them."""

from typing import Any

from google.protobuf.message import Message
from ml_metadata.metadata_store.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd

__all__ = ["text_safe"]

# ASCII's own SUBSTITUTE. JSON, which most of these texts are, writes it as an escape.
_STAND_IN = "\x1a"


def text_safe(store: MetadataStore, config: mlmd.ConnectionConfig) -> MetadataStore:
    """Lets a store keep any text, in whichever database.

    PostgreSQL's client quotes a text with a backslash as ` E'...'`. ML Metadata cuts off a sign at
    either end, puts quotes of its own around the rest, and the database finds no SQL in that. So
    another sign stands for the backslash there; whoever reads through such a store does not see it.

    Args:
        store: Is changed.
        config: Its database; others than PostgreSQL are left alone.
    """
    if config.HasField("postgresql"):
        # A wrapper around its method would refer to it, and its connection stay open.
        store.__class__ = _TextSafeStore
    return store


class _TextSafeStore(MetadataStore):
    def _call_method(self, method_name: str, request: Message, response: Message) -> None:
        sent = type(request)()
        sent.CopyFrom(request)
        _replace(sent, "\\", _STAND_IN)
        super()._call_method(method_name, sent, response)
        _replace(response, _STAND_IN, "\\")


def _replace(message: Message, old: str, new: str) -> None:
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING and field.label != field.LABEL_REPEATED:
            if old in value:
                setattr(message, field.name, value.replace(old, new))
        elif field.label == field.LABEL_REPEATED:
            _replace_in_all(value, old, new)
        elif field.type == field.TYPE_MESSAGE:
            _replace(value, old, new)


def _replace_in_all(values: Any, old: str, new: str) -> None:
    """Those of a map, whose keys stay, or of a list."""
    keys = list(values) if hasattr(values, "keys") else range(len(values))
    for key in keys:
        if isinstance(values[key], Message):
            _replace(values[key], old, new)
        elif isinstance(values[key], str) and old in values[key]:
            values[key] = values[key].replace(old, new)
