"""TF Serving's messages without TensorFlow.

The official stubs import TensorFlow, which takes seconds; a client needs a dozen messages, which
are declared here field by field with their official numbers.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pairloom.serving.messages import message_classes

# Trailing metadata of the embedded server's NOT_FOUND: the names of its models, a JSON list.
MODELS_KEY = "pairloom-models"

# As `message_classes` takes it.
_SCHEMA = {
    "Dim": "size:1:int64 name:2:string",
    "Shape": "dim:2:*Dim unknown_rank:3:bool",
    "Tensor": (
        "dtype:1:int32 tensor_shape:2:Shape tensor_content:4:bytes float_val:5:*float "
        "double_val:6:*double int_val:7:*int32 string_val:8:*bytes int64_val:10:*int64 "
        "bool_val:11:*bool half_val:13:*int32 uint32_val:16:*uint32 uint64_val:17:*uint64"
    ),
    "TensorEntry": "key:1:string value:2:Tensor",
    "Int64Value": "value:1:int64",
    "ModelSpec": (
        "name:1:string version:2:Int64Value signature_name:3:string version_label:4:string"
    ),
    "PredictRequest": "model_spec:1:ModelSpec inputs:2:*TensorEntry output_filter:3:*string",
    "PredictResponse": "outputs:1:*TensorEntry model_spec:2:ModelSpec",
    "Status": "error_code:1:int32 error_message:2:string",
    "VersionStatus": "version:1:int64 state:2:int32 status:3:Status",
    "StatusRequest": "model_spec:1:ModelSpec",
    "StatusResponse": "model_version_status:1:*VersionStatus",
    "TensorInfo": "name:1:string dtype:2:int32 tensor_shape:3:Shape",
    "TensorInfoEntry": "key:1:string value:2:TensorInfo",
    "Signature": "inputs:1:*TensorInfoEntry outputs:2:*TensorInfoEntry method_name:3:string",
    "SignatureEntry": "key:1:string value:2:Signature",
    "SignatureMap": "signature_def:1:*SignatureEntry",
    "Any": "type_url:1:string value:2:bytes",
    "AnyEntry": "key:1:string value:2:Any",
    "MetadataRequest": "model_spec:1:ModelSpec metadata_field:2:*string",
    "MetadataResponse": "model_spec:1:ModelSpec metadata:2:*AnyEntry",
}

_CLASSES = message_classes("pairloom.wire", _SCHEMA)
Tensor = _CLASSES["Tensor"]
PredictRequest = _CLASSES["PredictRequest"]
PredictResponse = _CLASSES["PredictResponse"]
StatusRequest = _CLASSES["StatusRequest"]
StatusResponse = _CLASSES["StatusResponse"]
MetadataRequest = _CLASSES["MetadataRequest"]
MetadataResponse = _CLASSES["MetadataResponse"]
SignatureMap = _CLASSES["SignatureMap"]

# TensorFlow's DataType numbers: name, NumPy type, field.
TYPES: dict[int, tuple[str, Any, str]] = {
    1: ("float", np.float32, "float_val"),
    2: ("double", np.float64, "double_val"),
    3: ("int32", np.int32, "int_val"),
    4: ("uint8", np.uint8, "int_val"),
    5: ("int16", np.int16, "int_val"),
    6: ("int8", np.int8, "int_val"),
    7: ("string", np.object_, "string_val"),
    9: ("int64", np.int64, "int64_val"),
    10: ("bool", np.bool_, "bool_val"),
    17: ("uint16", np.uint16, "int_val"),
    19: ("half", np.float16, "half_val"),
    22: ("uint32", np.uint32, "uint32_val"),
    23: ("uint64", np.uint64, "uint64_val"),
}
_STRING = 7
# TensorFlow's. A few bytes state an axis, and the product of many has as many digits.
MOST_AXES = 254


def type_name(dtype: int) -> str:
    """TensorFlow's number of a type to its name, such as `string`."""
    return TYPES[dtype][0] if dtype in TYPES else f"type {dtype}"


def numpy_type(name: str) -> Any:
    """A type's name, as `type_name` gives it, to NumPy's type; strings are objects."""
    for known, kind, _ in TYPES.values():
        if known == name:
            return kind
    raise ValueError(f"The server wants a tensor of {name}.")


def string_tensor(values: Sequence[bytes] | np.ndarray) -> Any:
    """A string tensor of a list, or of an array of objects with any number of axes."""
    array = np.asarray(values, object)
    tensor = Tensor(dtype=_STRING, string_val=array.ravel().tolist())
    for size in array.shape:
        tensor.tensor_shape.dim.add(size=size)
    return tensor


def number_tensor(values: np.ndarray) -> Any:
    """A tensor of an array of numbers, of the array's own type and shape."""
    for number, (_, kind, _) in TYPES.items():
        if number != _STRING and values.dtype.newbyteorder("=") == kind:
            break
    else:
        raise ValueError(f"`values` must be of a type that can be sent. Received: {values.dtype}.")
    # Its bytes are little-endian on the wire.
    content = values.astype(values.dtype.newbyteorder("<")).tobytes()
    tensor = Tensor(dtype=number, tensor_content=content)
    for size in values.shape:
        tensor.tensor_shape.dim.add(size=size)
    return tensor


def array(tensor: Any) -> np.ndarray:
    """The values of a tensor; strings come as bytes in an array of objects."""
    if tensor.dtype not in TYPES:
        raise ValueError(f"The server sent a tensor of {type_name(tensor.dtype)}.")
    _, kind, field = TYPES[tensor.dtype]
    if len(tensor.tensor_shape.dim) > MOST_AXES:
        raise ValueError(f"The server sent a tensor of {len(tensor.tensor_shape.dim)} axes.")
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, kind).reshape(shape)
    values = list(getattr(tensor, field))
    size = math.prod(shape)
    # Equal values at the end may be left out on the wire.
    values += [values[-1] if values else (b"" if kind is np.object_ else 0)] * (size - len(values))
    if kind is np.float16:
        return np.array(values, np.uint16).view(np.float16).reshape(shape)
    result = np.empty(size, kind)
    result[:] = values
    return result.reshape(shape)
