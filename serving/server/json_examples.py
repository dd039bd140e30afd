"""The JSON of `:classify` and `:regress`: examples in, classes and values out."""

import json
from typing import Any

from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import classification_pb2, input_pb2, regression_pb2

from pairloom.serving.server.errors import invalid
from pairloom.serving.server.json_tensors import (
    decode_base64,
    dump_json,
    is_base64,
    is_unicode,
    json_text,
    json_type,
    lossless_float,
    shortest_float,
    string_bytes,
)


def examples_from_json(document: dict[str, Any]) -> input_pb2.Input:
    """`{"context": {...}, "examples": [{"name": value or list, ...}, ...]}`.

    Raises:
        RequestError: With TF Serving's words, which are the same for both methods.
    """
    given = input_pb2.Input()
    target = given.example_list
    if "context" in document:
        target = given.example_list_with_context
        _fill(target.context, document["context"])
    problem = ""
    if "examples" not in document:
        problem = "When method is classify, key 'examples' is expected and was not found"
    elif not isinstance(document["examples"], list):
        problem = "Expecting 'examples' value to be an list/array"
    elif not document["examples"]:
        problem = "'examples' value is an empty array"
    if problem:
        raise invalid(f"JSON Value: {json_text(document)} {problem}")
    for example in document["examples"]:
        _fill(target.examples.add(), example)
    return given


def json_from_classes(response: classification_pb2.ClassificationResponse) -> bytes:
    """`{"results": [[[label, score], ...], ...]}`."""
    rows = [
        [[entry.label, shortest_float(entry.score)] for entry in row.classes]
        for row in response.result.classifications
    ]
    return dump_json({"results": rows}, 1)


def json_from_values(response: regression_pb2.RegressionResponse) -> bytes:
    """`{"results": [value, ...]}`."""
    rows = [shortest_float(row.value) for row in response.result.regressions]
    return dump_json({"results": rows}, 1)


def _fill(example: Any, features: Any) -> None:
    if not isinstance(features, dict):
        raise invalid(f"Example must be JSON object but got JSON {json_type(features)}")
    for name, value in features.items():
        if not is_unicode(name):
            raise invalid(f"A feature's name must be UTF-8. Received: {json.dumps(name)[:200]}")
        feature = example.features.feature[name]
        for one in value if isinstance(value, list) else [value]:
            _add(feature, name, one)


def _add(feature: Any, name: str, value: Any) -> None:
    kind, converted = _converted(name, value)
    expected = feature.WhichOneof("kind")
    if expected not in (None, f"{kind}_list"):
        raise invalid(
            f"Unexpected element type in feature: {name} expecting type: "
            f"{expected.removesuffix('_list')}"
        )
    getattr(feature, f"{kind}_list").value.append(converted)


def _converted(name: str, value: Any) -> tuple[str, Any]:
    if isinstance(value, str):
        return "bytes", string_bytes(value)
    if is_base64(value):
        return "bytes", decode_base64(value)
    if isinstance(value, bool) or (isinstance(value, int) and -(2**63) <= value < 2**64):
        if value >= 2**63:
            raise invalid(f"Feature: {name} has uint64 element. Only int64_t is supported.")
        return "int64", value
    if isinstance(value, (int, float)):
        return "float", lossless_float(value, types_pb2.DT_FLOAT)
    raise invalid(f"Feature: {name} has element with unexpected JSON type: {json_type(value)}")
