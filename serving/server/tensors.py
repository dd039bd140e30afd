"""TensorProto to array and back, in the fields that TF Serving uses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorflow.core.framework import tensor_pb2, types_pb2

# dtype: (NumPy type, the proto's field of values).
_FIELDS = {
    types_pb2.DT_FLOAT: (np.float32, "float_val"),
    types_pb2.DT_DOUBLE: (np.float64, "double_val"),
    types_pb2.DT_INT64: (np.int64, "int64_val"),
    types_pb2.DT_INT32: (np.int32, "int_val"),
    types_pb2.DT_INT16: (np.int16, "int_val"),
    types_pb2.DT_INT8: (np.int8, "int_val"),
    types_pb2.DT_UINT8: (np.uint8, "int_val"),
    types_pb2.DT_UINT16: (np.uint16, "int_val"),
    types_pb2.DT_UINT32: (np.uint32, "uint32_val"),
    types_pb2.DT_UINT64: (np.uint64, "uint64_val"),
    types_pb2.DT_BOOL: (np.bool_, "bool_val"),
    types_pb2.DT_HALF: (np.float16, "half_val"),
    types_pb2.DT_STRING: (np.object_, "string_val"),
}
# What TensorFlow itself reads, since NumPy has no such type or no such field:
# dtype: (bytes of an element, the proto's field of values, how many of them make an element).
_BY_TENSORFLOW = {
    types_pb2.DT_BFLOAT16: (2, "half_val", 1),
    types_pb2.DT_COMPLEX64: (8, "scomplex_val", 2),
    types_pb2.DT_COMPLEX128: (16, "dcomplex_val", 2),
}
_DTYPES = {np.dtype(kind): dtype for dtype, (kind, _) in _FIELDS.items()}

# A proto of a few bytes may state any shape, and the arrays of a request must not eat the machine:
# what is filled up may be as much as a message may bring by default.
MAX_FILLED_BYTES = 64 * 1024 * 1024
# What TensorFlow keeps for a text besides its bytes.
_STRING_BYTES = 24


# TensorFlow's. A few bytes state an axis, and the product of many has as many digits.
MOST_AXES = 254


def dtype_name(dtype: int) -> str:
    """`types_pb2.DT_FLOAT` to `float`, as TensorFlow prints it in its errors."""
    try:
        return types_pb2.DataType.Name(dtype).removeprefix("DT_").lower()
    except ValueError:
        return f"unknown type {dtype}"


def arrays_from_protos(protos: Mapping[str, tensor_pb2.TensorProto]) -> dict[str, np.ndarray]:
    """Reads a request's tensors.

    Raises:
        ValueError: As `array_from_proto`, with the tensor's name; or too much is to be filled up.
    """
    arrays = {}
    room = MAX_FILLED_BYTES
    for name, proto in protos.items():
        try:
            arrays[name], filled = _read(proto, room)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
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
    if proto.dtype in _BY_TENSORFLOW:
        return _by_tensorflow(proto, room)
    kind, field = _kind_and_field(proto)
    shape = _shape(proto)
    size = math.prod(shape)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, kind, shape, size), 0
    values = getattr(proto, field)
    count = len(values)
    filled = _filled_bytes(size - count, kind, values) if count < size else 0
    if filled > room:
        raise _too_much(shape)
    if kind is np.object_:
        # Not by np.full, which cuts zeros off the end of a text and makes a copy for each element.
        array = np.empty(size, np.object_)
        array[:count] = values[:size]
        if filled:
            array[count:].fill(values[-1] if count else b"")
        return array.reshape(shape), filled
    if kind is np.float16:
        bits = np.array(values, np.int32).astype(np.uint16).view(np.float16)
    else:
        bits = np.array(values).astype(kind) if count else np.zeros(0, kind)
    if count == size:
        return bits.reshape(shape), 0
    array = np.full(size, bits[-1] if count else 0, kind)
    array[: min(count, size)] = bits[:size]
    return array.reshape(shape), filled


def _by_tensorflow(proto: tensor_pb2.TensorProto, room: float) -> tuple[np.ndarray, int]:
    import tensorflow as tf

    shape = _shape(proto)
    itemsize, field, parts = _BY_TENSORFLOW[proto.dtype]
    missing = math.prod(shape) - len(getattr(proto, field)) // parts
    filled = 0 if proto.tensor_content else max(0, missing) * itemsize
    if filled > room:
        raise _too_much(shape)
    try:
        return tf.make_ndarray(proto), filled
    except (OverflowError, TypeError) as error:
        raise ValueError(str(error)) from None


def _too_much(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"to fill the shape {list(shape)} up takes over {MAX_FILLED_BYTES} bytes")


def _kind_and_field(proto: tensor_pb2.TensorProto) -> tuple[Any, str]:
    if proto.dtype not in _FIELDS:
        raise ValueError(f"type {dtype_name(proto.dtype)} is not supported")
    return _FIELDS[proto.dtype]


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


def proto_from_array(array: np.ndarray) -> tensor_pb2.TensorProto:
    """Writes a tensor as `write_array` does."""
    proto = tensor_pb2.TensorProto()
    write_array(array, proto)
    return proto


def write_array(array: np.ndarray, proto: tensor_pb2.TensorProto) -> None:
    """Writes a tensor into its typed field, where TF Serving's clients look for it.

    Args:
        array: The tensor.
        proto: An empty message.
    """
    array = np.asarray(array)
    dtype = _DTYPES.get(array.dtype)
    if dtype is None:
        import tensorflow as tf

        proto.CopyFrom(tf.make_tensor_proto(array))
        return
    proto.dtype = dtype
    add = proto.tensor_shape.dim.add
    for size in array.shape:
        add(size=size)
    values = array.ravel()
    if dtype == types_pb2.DT_HALF:
        values = values.view(np.uint16)
    listed = values.tolist()
    if dtype == types_pb2.DT_STRING:
        listed = [value if type(value) is bytes else _bytes(value) for value in listed]
    getattr(proto, _FIELDS[dtype][1]).extend(listed)
    # A tensor of no axes has a shape too.
    proto.tensor_shape.SetInParent()


def _bytes(value: object) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)  # type: ignore[call-overload]
