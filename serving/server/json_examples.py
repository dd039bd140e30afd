"""The JSON of `:classify` and `:regress`: examples in, classes and values out."""

import json
from typing import Any

from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import classification_pb2, input_pb2, regression_pb2

from pairloom.serving.server.errors import invalid
from pairloom.serving.server.json_tensors import (
    decode_base64,
    is_base64,
    is_unicode,
    lossless_float,
    string_bytes,
)


def examples_from_json(document: dict[str, Any]) -> input_pb2.Input:
    """`{"context": {...}, "examples": [{"name": value or list, ...}, ...]}`."""
    examples = document.get("examples")
    if not isinstance(examples, list) or not examples:
        raise invalid("When method is classify or regress, key 'examples' is expected, a list.")
    given = input_pb2.Input()
    target = given.example_list
    if "context" in document:
        target = given.example_list_with_context
        _fill(target.context, document["context"])
    for example in examples:
        _fill(target.examples.add(), example)
    return given


def json_from_classes(response: classification_pb2.ClassificationResponse) -> bytes:
    """`{"results": [[[label, score], ...], ...]}`."""
    rows = [
        [[entry.label, entry.score] for entry in row.classes]
        for row in response.result.classifications
    ]
    return _dump(rows)


def json_from_values(response: regression_pb2.RegressionResponse) -> bytes:
    """`{"results": [value, ...]}`."""
    return _dump([row.value for row in response.result.regressions])


def _fill(example: Any, features: Any) -> None:
    if not isinstance(features, dict):
        raise invalid(
            f"Example must be JSON object but got JSON Value: {json.dumps(features)[:200]}"
        )
    for name, value in features.items():
        if not is_unicode(name):
            raise invalid(f"A feature's name must be UTF-8. Received: {json.dumps(name)[:200]}")
        values = value if isinstance(value, list) else [value]
        feature = example.features.feature[name]
        for one in values:
            _add(feature, name, one)


def _add(feature: Any, name: str, value: Any) -> None:
    kind = None
    if isinstance(value, str) or is_base64(value):
        kind = "bytes_list"
        value = decode_base64(value) if is_base64(value) else string_bytes(value)
    elif isinstance(value, bool):
        kind = "int64_list"
    elif isinstance(value, int):
        kind = "int64_list" if -(2**63) <= value < 2**63 else None
    elif isinstance(value, float):
        kind, value = "float_list", lossless_float(value, types_pb2.DT_FLOAT)
    if kind is None or feature.WhichOneof("kind") not in (None, kind):
        raise invalid(
            f"Feature {name} must be one text, number or base64 object, or a list of one kind of "
            f"them. Received: {json.dumps(value)[:200] if kind is None else 'a mixed list'}"
        )
    getattr(feature, kind).value.append(value)


def _dump(rows: list[Any]) -> bytes:
    return json.dumps({"results": rows}, ensure_ascii=False, indent=1).encode("utf-8")
