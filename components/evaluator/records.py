"""Reads the files of an evaluation without TFMA, whose import alone takes ten seconds.

TFMA writes TFRecord files of protocol messages. The part of the messages that is read here is
described again below, with TFMA's field numbers, in a descriptor pool of its own: so that nothing
clashes where TFMA is imported as well. A test compares with TFMA's own reader.
"""

import functools
import glob
import os
import struct
from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pairloom.components import anywhere

_PACKAGE = "pairloom.evaluation"

# Message: {field: (number, type)}; a type in brackets is repeated.
_MESSAGES = {
    "DoubleValue": {"value": (1, "double")},
    "MetricValue": {"double_value": (1, "DoubleValue")},
    "MetricKey": {"name": (1, "string"), "model_name": (4, "string"), "is_diff": (5, "bool")},
    "MetricKeyAndValue": {"key": (1, "MetricKey"), "value": (2, "MetricValue")},
    "SingleSliceKey": {"column": (1, "string"), "bytes_value": (2, "bytes")},
    "SliceKey": {"single_slice_keys": (1, "[SingleSliceKey]")},
    "MetricsForSlice": {
        "slice_key": (1, "SliceKey"),
        "metric_keys_and_values": (51, "[MetricKeyAndValue]"),
    },
    "ValidationResult": {"validation_ok": (1, "bool")},
}
_SCALARS = {
    name: getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{name.upper()}")
    for name in ("bool", "bytes", "double", "string")
}


def read_messages(folder: str, stem: str, message: str) -> list[Any]:
    """Reads every `message` in the files `stem*.tfrecord` of `folder`.

    Args:
        folder: An evaluation's uri: a folder, or an address that TensorFlow can open.
        stem: `metrics` or `validations`.
        message: A message named in this module.
    """
    parse = _message_class(message).FromString
    return [parse(record) for data in _read_files(folder, stem) for record in _records(data)]


def read_text(folder: str, name: str) -> str:
    """Reads a text file of an evaluation."""
    return anywhere.read_text(os.path.join(folder, name))


def _read_files(folder: str, stem: str) -> Iterator[bytes]:
    for path in anywhere.find(os.path.join(glob.escape(folder), f"{stem}*.tfrecord")):
        yield anywhere.read_bytes(path)


def _records(data: bytes) -> Iterator[bytes]:
    """Cuts a TFRecord file: length, its checksum, content, its checksum."""
    position = 0
    while position < len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        yield data[position + 12 : position + 12 + length]
        position += length + 16


@functools.cache
def _message_class(name: str) -> Any:
    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    # protobuf 3.20, which TFX 1.16 needs, and protobuf 5 share no way to do this.
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool()).GetPrototype(descriptor)


@functools.cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(
        name="pairloom/evaluation.proto", package=_PACKAGE, syntax="proto3"
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for field_name, (number, kind) in fields.items():
            field = message.field.add(name=field_name, number=number)
            repeated = kind.startswith("[")
            field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            if kind in _SCALARS:
                field.type = _SCALARS[kind]
            else:
                field.type = field.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind.strip('[]')}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool
