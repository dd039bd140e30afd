"""TensorProto to array and back, in the fields that TF Serving uses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2

from pairloom.serving.server.errors import invalid
from pairloom.serving.wire import MOST_AXES, TYPES

# dtype: (NumPy type, the proto's field of values).
_FIELDS: dict[int, tuple[Any, str]] = {
    **{dtype: (kind, field) for dtype, (_, kind, field) in TYPES.items()},
    types_pb2.DT_BFLOAT16: (tf.bfloat16.as_numpy_dtype, "half_val"),
    types_pb2.DT_COMPLEX64: (np.complex64, "scomplex_val"),
    types_pb2.DT_COMPLEX128: (np.complex128, "dcomplex_val"),
}
# What stands in fields that hold no elements: their bits, or their parts.
_STORED = {"half_val": np.uint16, "scomplex_val": np.float32, "dcomplex_val": np.float64}
_DTYPES = {np.dtype(kind): dtype for dtype, (kind, _) in _FIELDS.items()}

# A proto of a few bytes may state any shape, and the arrays of a request must not eat the machine:
# what is filled up may be as much as a message may bring by default.
MAX_FILLED_BYTES = 64 * 1024 * 1024
# What TensorFlow keeps for a text besides its bytes.
_STRING_BYTES = 24


def dtype_name(dtype: int) -> str:
    """`types_pb2.DT_FLOAT` to `float`, as TensorFlow prints it in its errors."""
    try:
        return types_pb2.DataType.Name(dtype).removeprefix("DT_").lower()
    except ValueError:
        return f"unknown type {dtype}"


def shape_text(shape: Sequence[int | None]) -> str:
    """`(None, 3)` to `[?,3]`."""
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


def arrays_from_protos(protos: Mapping[str, tensor_pb2.TensorProto]) -> dict[str, np.ndarray]:
    """Reads a request's tensors.

    Raises:
        RequestError: One is such that `array_from_proto` cannot read it, or too much is to be
            filled up.
    """
    arrays = {}
    room = MAX_FILLED_BYTES
    for name, proto in protos.items():
        try:
            arrays[name], filled = _read(proto, room)
        except ValueError as error:
            raise invalid(f"tensor parsing error: {name}: {error}") from None
        room -= filled
    return arrays


def array_from_proto(proto: tensor_pb2.TensorProto) -> np.ndarray:
    """Reads a tensor.

    Values may stand in `tensor_content` or in the typed field; a field with too few values
    repeats its last one, and an empty one means zeros, as in TensorFlow itself.

    Raises:
        ValueError: The proto contradicts itself, or its type is not supported.
    """
    return _read(proto)[0]


def _read(proto: tensor_pb2.TensorProto, room: float = math.inf) -> tuple[np.ndarray, int]:
    """The tensor, and how many of its bytes the proto states and does not bring."""
    if proto.dtype not in _FIELDS:
        raise ValueError(f"type {dtype_name(proto.dtype)} is not supported")
    kind, field = _FIELDS[proto.dtype]
    shape = _shape(proto)
    size = math.prod(shape)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, kind, shape, size), 0
    values = getattr(proto, field)
    stored = np.dtype(_STORED.get(field, kind))
    count = len(values) * stored.itemsize // np.dtype(kind).itemsize
    filled = _filled_bytes(size - count, kind, values) if count < size else 0
    if filled > room:
        raise ValueError(f"to fill the shape {list(shape)} up takes over {MAX_FILLED_BYTES} bytes")
    if kind is np.object_:
        # Not by np.array, which cuts zeros off the end of a text.
        elements = np.empty(count, np.object_)
        elements[:] = values[:]
    else:
        elements = np.array(values).astype(stored).view(kind)
    if count >= size:
        return elements[:size].reshape(shape), 0
    array = np.empty(size, kind)
    array[:count] = elements
    # Not by np.full, which makes a copy of a text for each element.
    array[count:].fill(elements[-1] if count else b"" if kind is np.object_ else 0)
    return array.reshape(shape), filled


def _shape(proto: tensor_pb2.TensorProto) -> tuple[int, ...]:
    if proto.tensor_shape.unknown_rank:
        raise ValueError("the shape has no rank")
    axes = len(proto.tensor_shape.dim)
    if axes > MOST_AXES:
        raise ValueError(f"the shape has {axes} axes, over TensorFlow's limit of {MOST_AXES}")
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError(f"the shape {list(shape)} has a negative size")
    return shape


def longest(array: np.ndarray) -> int:
    """How long the longest text in an array is; 0 where it holds none."""
    return max(map(len, array.ravel()), default=0) if array.dtype == np.object_ else 0


def stated_rows(proto: tensor_pb2.TensorProto) -> int:
    """How many rows a tensor has by its shape."""
    return proto.tensor_shape.dim[0].size if proto.tensor_shape.dim else 1


def stated_size(proto: tensor_pb2.TensorProto) -> int:
    """How many elements a tensor has by its shape, which a few bytes can make millions.

    One that will be refused has none.
    """
    try:
        return math.prod(_shape(proto))
    except ValueError:
        return 0


def _filled_bytes(missing: int, kind: Any, values: Sequence[Any]) -> int:
    """What `missing` elements take, TensorFlow's copies of texts included."""
    text = 0
    if kind is np.object_:
        text = _STRING_BYTES + (len(values[-1]) if values else 0)
    return missing * (np.dtype(kind).itemsize + text)


def _from_content(content: bytes, kind: type, shape: tuple[int, ...], size: int) -> np.ndarray:
    if kind is np.object_:
        raise ValueError("string tensors need string_val, not tensor_content")
    expected = size * np.dtype(kind).itemsize
    if len(content) != expected:
        raise ValueError(
            f"tensor_content has {len(content)} bytes, the shape {list(shape)} needs {expected}"
        )
    return np.frombuffer(content, kind).reshape(shape)


def write_array(array: np.ndarray, proto: tensor_pb2.TensorProto) -> None:
    """Writes a tensor into its typed field, where TF Serving's clients look for it.

    Args:
        array: The tensor.
        proto: An empty message.
    """
    array = np.asarray(array)
    dtype = _DTYPES.get(array.dtype)
    if dtype is None:
        proto.CopyFrom(tf.make_tensor_proto(array))
        return
    kind, field = _FIELDS[dtype]
    proto.dtype = dtype
    # A tensor of no axes has a shape too.
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    listed = array.ravel().view(_STORED.get(field, kind)).tolist()
    if dtype == types_pb2.DT_STRING:
        listed = [value.encode() if isinstance(value, str) else bytes(value) for value in listed]
    getattr(proto, field).extend(listed)
