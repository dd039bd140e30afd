import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2

from pairloom.serving.server.errors import RequestError
from pairloom.serving.server.tensors import (
    MAX_FILLED_BYTES,
    array_from_proto,
    arrays_from_protos,
    dtype_name,
    write_array,
)

ARRAYS = [
    np.array([[1.5, -2.0]], np.float32),
    np.array(3.25, np.float64),
    np.zeros([0, 3], np.int64),
    np.array([-7], np.int32),
    np.array([-7], np.int8),
    np.array([255], np.uint8),
    np.array([2**64 - 1], np.uint64),
    np.array([2**32 - 1], np.uint32),
    np.array([True, False]),
    np.array([0.1, 65504], np.float16),
    np.array([1.5, -2.0], tf.bfloat16.as_numpy_dtype),
    np.array([1 + 2j, -0.5j], np.complex64),
    np.array([[1 + 2j], [-0.5j]], np.complex128),
    np.array([[b"a", b"\xff\x00"]], np.object_),
]


def proto_from_array(array):
    proto = tensor_pb2.TensorProto()
    write_array(array, proto)
    return proto


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_a_tensor_comes_back_as_it_went(array):
    back = array_from_proto(proto_from_array(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_tensorflow_reads_and_writes_the_same(array):
    np.testing.assert_array_equal(tf.make_ndarray(proto_from_array(array)), array)
    np.testing.assert_array_equal(array_from_proto(tf.make_tensor_proto(array)), array)


def test_numbers_are_written_into_fields_and_never_as_raw_content():
    proto = proto_from_array(np.ones([2, 2], np.float32))
    assert list(proto.float_val) == [1, 1, 1, 1] and not proto.tensor_content


def test_a_type_of_tensorflows_own_is_still_written():
    array = tf.constant([1.5], tf.bfloat16).numpy()
    assert proto_from_array(array).dtype == types_pb2.DT_BFLOAT16


@pytest.mark.parametrize("kind", [tf.bfloat16, tf.complex64, tf.complex128])
def test_a_type_without_a_field_of_numpys_is_read(kind):
    array = tf.constant([[1.5, -2.0]], kind).numpy()
    in_field, in_content = (numbers(1, 2, dtype=kind.as_datatype_enum) for _ in range(2))
    in_content.tensor_content = array.tobytes()
    if kind is tf.bfloat16:
        in_field.half_val.extend(array.view(np.uint16).ravel().tolist())
    else:
        field = in_field.scomplex_val if kind is tf.complex64 else in_field.dcomplex_val
        field.extend(part for value in array.ravel() for part in (value.real, value.imag))
    for back in arrays_from_protos({"a": in_field, "b": in_content}).values():
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


def test_left_out_values_repeat_the_last_one():
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_INT32, int_val=[1, 2])
    proto.tensor_shape.dim.add(size=4)
    assert array_from_proto(proto).tolist() == [1, 2, 2, 2]
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[b"a"])
    proto.tensor_shape.dim.add(size=3)
    assert array_from_proto(proto).tolist() == [b"a", b"a", b"a"]


def strings(size, *values):
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=values)
    proto.tensor_shape.dim.add(size=size)
    return proto


def test_left_out_texts_are_the_last_one_itself_to_its_last_byte():
    array = array_from_proto(strings(4, b"a\0", b"b\0"))
    assert array.tolist() == [b"a\0", b"b\0", b"b\0", b"b\0"]
    assert array[2] is array[3]
    assert array_from_proto(strings(2, b"a", b"b", b"c")).tolist() == [b"a", b"b"]
    assert array_from_proto(strings(2)).tolist() == [b"", b""]


def numbers(*sizes, dtype=types_pb2.DT_FLOAT):
    proto = tensor_pb2.TensorProto(dtype=dtype)
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    return proto


@pytest.mark.parametrize(
    "protos",
    [
        {"x": numbers(10**6, 10**6)},
        {"x": numbers(2**62, 2**62)},
        {"x": numbers(10**6, 10**6, dtype=types_pb2.DT_BFLOAT16)},
        {"x": numbers(MAX_FILLED_BYTES // 8, dtype=types_pb2.DT_COMPLEX128)},
        # Pointers are small, but TensorFlow copies the text for each of them.
        {"x": strings(100, b"x" * 1_000_000)},
        # Each for itself would do.
        {name: numbers(MAX_FILLED_BYTES // 12) for name in "abcx"},
    ],
    ids=["large", "larger", "bfloat16", "complex", "texts", "many"],
)
def test_a_small_request_cannot_ask_for_large_arrays(protos):
    assert sum(proto.ByteSize() for proto in protos.values()) < 1_100_000
    with pytest.raises(
        RequestError,
        match=f"tensor parsing error: x: to fill .* takes over {MAX_FILLED_BYTES} bytes",
    ):
        arrays_from_protos(protos)


def test_what_a_request_brings_is_not_limited_by_what_it_may_leave_out():
    array = np.zeros(MAX_FILLED_BYTES // 8 + 1, np.int64)
    [back] = arrays_from_protos({"x": tf.make_tensor_proto(array)}).values()
    assert back.shape == array.shape
    small = arrays_from_protos({"x": strings(3, b"a"), "y": numbers(2)})
    assert {name: array.size for name, array in small.items()} == {"x": 3, "y": 2}


def test_no_values_mean_zeros():
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT)
    proto.tensor_shape.dim.add(size=2)
    assert array_from_proto(proto).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("sizes", "changes", "message"),
    [
        ([-1], {}, "negative"),
        ([3], {"tensor_content": b"12345"}, "5 bytes"),
        ([1], {"dtype": types_pb2.DT_STRING, "tensor_content": b"1"}, "string_val"),
        ([1], {"dtype": types_pb2.DT_RESOURCE}, "resource is not supported"),
        ([1], {"dtype": 99}, "unknown type 99"),
        ([-1], {"dtype": types_pb2.DT_COMPLEX64}, "negative"),
        (
            [3],
            {"dtype": types_pb2.DT_COMPLEX64, "tensor_content": b"x" * 16},
            "16 bytes, .* needs 24",
        ),
        ([2], {"dtype": types_pb2.DT_COMPLEX64, "scomplex_val": [1, 2, 3]}, "divisor"),
    ],
)
def test_a_proto_that_contradicts_itself_is_refused(sizes, changes, message):
    proto = tensor_pb2.TensorProto(**({"dtype": types_pb2.DT_FLOAT} | changes))
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    with pytest.raises(ValueError, match=message):
        array_from_proto(proto)


def test_a_shape_without_rank_is_refused():
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT)
    proto.tensor_shape.unknown_rank = True
    with pytest.raises(ValueError, match="rank"):
        array_from_proto(proto)


def test_types_are_named_as_tensorflow_names_them():
    assert dtype_name(types_pb2.DT_FLOAT) == "float"
    assert dtype_name(types_pb2.DT_STRING) == "string"
