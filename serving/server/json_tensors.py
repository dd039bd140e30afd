"""TF Serving's JSON: row form (`instances`) and column form (`inputs`), to arrays and back."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tensorflow.core.framework import types_pb2

from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.tensors import dtype_name, shape_text

_INTEGERS = {
    types_pb2.DT_INT8: (-(2**31), 2**31, np.int8),
    types_pb2.DT_INT16: (-(2**31), 2**31, np.int16),
    types_pb2.DT_INT32: (-(2**31), 2**31, np.int32),
    types_pb2.DT_UINT8: (-(2**31), 2**31, np.uint8),
    types_pb2.DT_INT64: (-(2**63), 2**63, np.int64),
    types_pb2.DT_UINT32: (0, 2**32, np.uint32),
    types_pb2.DT_UINT64: (0, 2**64, np.uint64),
}
_FLOATS: dict[int, Any] = {types_pb2.DT_FLOAT: np.float32, types_pb2.DT_DOUBLE: np.float64}
# NumPy's limit before its version 2, less the axis that rows add. (TensorFlow's is 254.)
_MOST_AXES = 31
_JSON_TYPES = {type(None): "Null", dict: "Object", list: "Array", str: "String"}


# A list of two bytes takes thirty times as many in memory, and Python looks at each.
MOST_ELEMENTS = 1_000_000


def parse_body(body: bytes) -> dict[str, Any]:
    """Parses a request's JSON object; bytes that are not UTF-8 survive inside strings."""
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    # Those in texts count as well: to tell them apart takes as long as to parse.
    elements = sum(map(body.count, (b",", b"[", b"{")))
    if elements > MOST_ELEMENTS:
        raise invalid(
            f"JSON Parse error: {elements} commas and brackets, over the limit of {MOST_ELEMENTS}. "
            "Send several requests, or ask over gRPC."
        )
    try:
        document = json.loads(body.decode("utf-8", "surrogateescape"), parse_float=_finite)
    except RecursionError:
        raise invalid("JSON Parse error: nested too deeply") from None
    except ValueError as error:
        raise invalid(f"JSON Parse error: {error}") from None
    if not isinstance(document, dict):
        raise invalid(f"JSON Value: {json_text(document)} Is not object")
    name = document.get("signature_name", "")
    if not isinstance(name, str):
        raise invalid(
            f"JSON Value: {json_text(document)} not formatted correctly. 'signature_name' key must "
            "be a string value."
        )
    if not is_unicode(name):
        raise invalid(f"JSON Parse error: 'signature_name' is not UTF-8: {json_text(name)}")
    return document


def is_unicode(text: str) -> bool:
    """Whether a message's fields can hold it: neither bytes that are not UTF-8 nor surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def inputs_from_json(
    document: Mapping[str, Any],
    dtypes: Mapping[str, int],
    check: Callable[[], None] = lambda: None,
) -> dict[str, np.ndarray]:
    """Turns a parsed request into arrays.

    `{"instances": ["a", "b"]}` and `{"inputs": ["a", "b"]}` both give `{"source": ["a", "b"]}`
    when `source` is the only input; with several, rows and columns are objects.

    Args:
        document: What `parse_body` gave.
        dtypes: Name of each input to its `types_pb2` number.
        check: Called again and again; raises when nobody waits any more.
    """
    rows = "instances" in document
    if rows and "inputs" in document:
        raise invalid(
            f"JSON Value: {json_text(document)} Not formatted correctly expecting only one of "
            "'inputs' or 'instances' keys to exist "
        )
    if rows:
        return _from_rows(document, dtypes, check)
    if "inputs" in document:
        return _from_columns(document["inputs"], dtypes, check)
    raise invalid("Missing 'inputs' or 'instances' key")


def json_from_outputs(outputs: Mapping[str, np.ndarray], rows: bool) -> bytes:
    """Writes an answer in the form in which the question came.

    Outputs named `..._bytes` are base64. In other strings, bytes that are not UTF-8 become
    U+FFFD, so that the answer stays valid JSON (TF Serving sends them as they are).
    """
    if not outputs:
        raise invalid("Cannot convert empty tensor map to JSON")
    size = None
    for name, array in outputs.items() if rows else ():
        if not array.shape:
            raise invalid(f"Tensor name: {name} has no shape information ")
        if size is not None and len(array) != size:
            raise invalid(
                f"Tensor name: {name} has inconsistent batch size: {len(array)} expecting: {size}"
            )
        size = len(array)
    key = "predictions" if rows else "outputs"
    columns = {name: _values(name, array) for name, array in outputs.items()}
    if len(columns) == 1:
        return dump_json({key: next(iter(columns.values()))})
    listed = [dict(zip(columns, row)) for row in zip(*columns.values())] if rows else columns
    return dump_json({key: listed})


def _from_rows(
    document: Mapping[str, Any], dtypes: Mapping[str, int], check: Callable[[], None]
) -> dict[str, np.ndarray]:
    rows = document["instances"]
    if not isinstance(rows, list):
        raise invalid(
            f"JSON Value: {json_text(document)} Expecting 'instances' to be an list/array"
        )
    if not rows:
        raise invalid(f"JSON Value: {json_text(document)} No values in 'instances' array")
    if not isinstance(rows[0], dict) and len(dtypes) > 1:
        raise invalid(
            "instances is a plain list, but expecting list of objects as multiple input tensors "
            "required as per tensorinfo_map"
        )
    objects = _is_object(rows[0])
    values: dict[str, list[Any]] = {name: [] for name in dtypes}
    shapes: dict[str, tuple[int, ...]] = {}
    for number, row in enumerate(rows):
        check()
        if objects != _is_object(row):
            expected = "object but got list" if objects else "value/list but got object"
            raise invalid(f"Expecting {expected} at item {number} of input list")
        if not objects:
            row = {next(iter(dtypes)): row}
        for name, item in row.items():
            key = f" key: {name}" if objects else ""
            try:
                if name not in dtypes:
                    raise invalid(f"JSON object: does not have named input: {name}")
                shape = _flatten(item, dtypes[name], values[name])
                if shapes.setdefault(name, shape) != shape:
                    raise invalid(_shape_mismatch(shapes[name], shape))
            except RequestError as error:
                raise invalid(
                    f"Failed to process element: {number}{key} of 'instances' list. "
                    f"Error: {error.code.name}: {error.message}"
                ) from None
        if set(row) != set(dtypes):
            raise invalid(
                f"Failed to process element: {number} of 'instances' list. JSON object: "
                f"{json_text(row)} keys must be equal to: {','.join(sorted(dtypes))}"
            )
    return {
        name: _array(values[name], dtype).reshape(len(rows), *shapes[name])
        for name, dtype in dtypes.items()
    }


def _shape_mismatch(expected: tuple[int, ...], received: tuple[int, ...]) -> str:
    if math.prod(expected) != math.prod(received):
        return f"Expecting tensor size: {math.prod(expected)} but got: {math.prod(received)}"
    return f"Expecting shape {shape_text(expected)} but got: {shape_text(received)}"


def _from_columns(
    value: Any, dtypes: Mapping[str, int], check: Callable[[], None]
) -> dict[str, np.ndarray]:
    if not _is_object(value):
        if len(dtypes) > 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple input tensors "
                "required as per tensorinfo_map"
            )
        value = {next(iter(dtypes)): value}
    arrays = {}
    for name, dtype in dtypes.items():
        if name not in value:
            raise invalid(f"Missing named input: {name} in 'inputs' object.")
        leaves: list[Any] = []
        shape = _flatten(value[name], dtype, leaves, check)
        arrays[name] = _array(leaves, dtype).reshape(shape)
    return arrays


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_base64(value)


def is_base64(value: Any) -> bool:
    """Whether a value is `{"b64": ...}`, TF Serving's form for bytes."""
    return isinstance(value, dict) and set(value) == {"b64"} and isinstance(value["b64"], str)


def _flatten(
    given: Any, dtype: int, leaves: list[Any], check: Callable[[], None] = lambda: None
) -> tuple[int, ...]:
    """Appends the leaves of nested lists, and returns their shape, which all of them must have."""
    shape = _shape(given)

    def collect(value: Any, level: int) -> None:
        if not isinstance(value, list):
            if level != len(shape):
                raise invalid(
                    f"JSON Value: {json_text(value)} found at incorrect level: {level + 1} in the "
                    f"JSON DOM. Expected at level: {len(shape)}"
                )
            leaves.append(_leaf(value, dtype))
            return
        if level >= len(shape):
            raise invalid(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
        if len(value) != shape[level]:
            raise invalid(
                f"Encountered list at unexpected size: {len(value)} at level: {level} expected "
                f"size: {shape[level]}"
            )
        check()
        for item in value:
            collect(item, level + 1)

    collect(given, 0)
    return shape


def _shape(value: Any) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(value, list):
        if len(shape) == _MOST_AXES:
            raise invalid(f"Expecting at most {_MOST_AXES} levels of lists")
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _leaf(value: Any, dtype: int) -> Any:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if dtype == types_pb2.DT_STRING:
        if isinstance(value, dict):
            return decode_base64(value)
        if isinstance(value, str):
            return string_bytes(value)
    elif dtype in _FLOATS:
        if number:
            return lossless_float(value, dtype)
    elif dtype in _INTEGERS:
        low, high, _ = _INTEGERS[dtype]
        if number and isinstance(value, int) and low <= value < high:
            return value
    elif dtype == types_pb2.DT_BOOL:
        if isinstance(value, bool):
            return value
    else:
        raise RequestError(
            Code.UNIMPLEMENTED,
            f"Conversion of JSON Value: {json_text(value)} to type: {dtype_name(dtype)}",
        )
    raise invalid(
        f"JSON Value: {json_text(value)} Type: {json_type(value)} is not of expected type: "
        f"{dtype_name(dtype)}"
    )


def lossless_float(value: int | float, dtype: int) -> float:
    """A JSON number, if a tensor of that type can hold one of its size."""
    most = float(np.finfo(_FLOATS[dtype]).max)
    if abs(value) <= most or (isinstance(value, float) and not math.isfinite(value)):
        return float(value)
    raise invalid(
        f"Cannot convert JSON value: {json_text(value)} to {dtype_name(dtype)} without loss of "
        "precision."
    )


def shortest_float(value: float) -> float:
    """A float of 32 bits as it is best written: 2.2 and not 2.200000047683716."""
    return float(str(np.float32(value)))


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"Number too big to be stored in double: {text:.50}")
    return value


def string_bytes(value: str) -> bytes:
    """A string that `parse_body` gave, as the bytes that came; half a character is an error."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise invalid("JSON Parse error: The surrogate pair in string is invalid.") from None


def decode_base64(value: dict[str, Any]) -> bytes:
    """`{"b64": "aGk="}` to `b"hi"`."""
    if not is_base64(value):
        raise invalid(f"JSON Value: {json_text(value)} not formatted correctly for base64 data")
    text = "".join(value["b64"].split()).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid("Unable to base64 decode") from None


def _array(flat: list[Any], dtype: int) -> np.ndarray:
    if dtype == types_pb2.DT_STRING:
        array = np.empty(len(flat), np.object_)
        array[:] = flat
        return array
    if dtype in _INTEGERS:
        kind = _INTEGERS[dtype][2]
        wide = np.uint64 if kind is np.uint64 else np.int64
        return np.array(flat, wide).astype(kind)
    return np.array(flat, np.bool_ if dtype == types_pb2.DT_BOOL else _FLOATS[dtype])


def _values(name: str, array: np.ndarray) -> Any:
    if array.dtype == np.object_:
        flat = np.empty(array.size, np.object_)
        flat[:] = [_text(value, name.endswith("_bytes")) for value in array.ravel()]
        return flat.reshape(array.shape).tolist()
    if array.dtype in (np.float32, np.float16):
        # By way of the shortest text: 0.2 and not 0.20000000298.
        return array.astype(str).astype(np.float64).tolist()
    if array.dtype.kind not in "biuf":
        raise invalid(f"Failed to write JSON value for tensor type: {array.dtype}")
    return array.tolist()


def _text(value: Any, packed: bool) -> Any:
    if packed:
        return {"b64": base64.b64encode(value).decode("ascii")}
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def dump_json(document: Any, indent: int | None = None) -> bytes:
    """A document as the JSON of a body."""
    return json.dumps(document, ensure_ascii=False, indent=indent).encode("utf-8", "replace")


def json_text(value: Any) -> str:
    """A value as JSON, cut short, for an error."""
    text = json.dumps(value)
    return text if len(text) <= 300 else text[:300] + "..."


def json_type(value: Any) -> str:
    """The name that a value's type has in TF Serving's errors."""
    if isinstance(value, bool):
        return str(value)
    return _JSON_TYPES.get(type(value), "Number")
