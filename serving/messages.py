"""Protocol messages declared in a line each, without TensorFlow, which takes seconds to import.

Only the field numbers go over the wire, so a message may be declared with just the fields that
are looked at. Each schema gets a descriptor pool of its own, so that the official messages may
live in the same process.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
}


def message_classes(package: str, schema: Mapping[str, str]) -> dict[str, Any]:
    """Makes a class of each message.

    Args:
        package: A name for the schema.
        schema: Message to its fields, `name:number:type` with spaces between them; the type is
            a scalar's or a message's name, with `*` before it for repeated. A map is a repeated
            entry of key and value.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package.replace('.', '/')}.proto", package=package, syntax="proto3"
    )
    for message, fields in schema.items():
        declared = file.message_type.add(name=message)
        for text in fields.split():
            name, number, kind = text.split(":")
            field = declared.field.add(name=name, number=int(number))
            field.label = _Field.LABEL_REPEATED if kind[0] == "*" else _Field.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            field.type = _SCALARS.get(kind, _Field.TYPE_MESSAGE)
            if kind not in _SCALARS:
                field.type_name = f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    if hasattr(message_factory, "GetMessageClass"):
        make = message_factory.GetMessageClass
    else:
        make = message_factory.MessageFactory(pool).GetPrototype
    return {name: make(pool.FindMessageTypeByName(f"{package}.{name}")) for name in schema}
