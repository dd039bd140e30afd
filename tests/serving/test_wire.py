"""Our declarations against the official ones, and our bytes against TensorFlow's."""

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.descriptor import FieldDescriptor
from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2, types_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    predict_pb2,
    status_pb2,
)

from pairloom.serving import wire

OFFICIAL = {
    "Dim": tensor_shape_pb2.TensorShapeProto.Dim,
    "Shape": tensor_shape_pb2.TensorShapeProto,
    "Tensor": tensor_pb2.TensorProto,
    "ModelSpec": model_pb2.ModelSpec,
    "PredictRequest": predict_pb2.PredictRequest,
    "PredictResponse": predict_pb2.PredictResponse,
    "Status": status_pb2.StatusProto,
    "VersionStatus": get_model_status_pb2.ModelVersionStatus,
    "StatusRequest": get_model_status_pb2.GetModelStatusRequest,
    "StatusResponse": get_model_status_pb2.GetModelStatusResponse,
    "TensorInfo": meta_graph_pb2.TensorInfo,
    "Signature": meta_graph_pb2.SignatureDef,
    "SignatureMap": get_model_metadata_pb2.SignatureDefMap,
    "MetadataRequest": get_model_metadata_pb2.GetModelMetadataRequest,
    "MetadataResponse": get_model_metadata_pb2.GetModelMetadataResponse,
}


@pytest.mark.parametrize("name", OFFICIAL)
def test_every_field_has_its_official_number_and_type(name):
    official = OFFICIAL[name].DESCRIPTOR.fields_by_name
    for field in wire._CLASSES[name].DESCRIPTOR.fields:
        other = official[field.name]
        kind = FieldDescriptor.TYPE_INT32 if other.enum_type else other.type
        assert (field.number, field.type, field.label) == (other.number, kind, other.label)


def test_a_request_of_ours_is_read_by_the_official_stubs():
    request = wire.PredictRequest(output_filter=["target"])
    request.model_spec.name = "m"
    request.model_spec.version.value = 4
    request.inputs.add(key="source", value=wire.string_tensor([b"a", b"\xff"]))
    official = predict_pb2.PredictRequest.FromString(request.SerializeToString())
    assert official.model_spec.version.value == 4
    assert official.output_filter == ["target"]
    assert tf.make_ndarray(official.inputs["source"]).tolist() == [b"a", b"\xff"]


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0.5, -1.0], [2.0, 3.0]], np.float32),
        np.array(7, np.int64),
        np.zeros([0, 2], np.float64),
        np.array([True, False]),
        np.array([1.5], np.float16),
        np.array([-3], np.int8),
        np.array([2**64 - 1], np.uint64),
        np.array([[b"a"], [b""]], np.object_),
    ],
    ids=lambda array: str(array.dtype),
)
def test_every_tensor_of_tensorflows_is_read(array):
    tensor = wire.Tensor.FromString(tf.make_tensor_proto(array).SerializeToString())
    np.testing.assert_array_equal(wire.array(tensor), array)
    assert wire.array(tensor).dtype == array.dtype


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0.5, -1.0]], np.float32),
        np.array([[0.5], [2.0]], ">f4"),
        np.array([2**40, -1], np.int64),
        np.zeros([0, 3], np.float32),
        np.array(7, np.int32),
        np.array([True, False]),
        np.arange(6, dtype=np.float64).reshape(2, 3)[:, ::2],
        np.array([1.5], np.float16),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_numbers_of_ours_are_read_by_the_official_stubs(array):
    tensor = wire.number_tensor(array)
    official = tensor_pb2.TensorProto.FromString(tensor.SerializeToString())
    np.testing.assert_array_equal(tf.make_ndarray(official), array)
    assert official.dtype == tf.make_tensor_proto(array.astype(array.dtype.newbyteorder("="))).dtype
    assert array.dtype.newbyteorder("=") == wire.numpy_type(wire.type_name(official.dtype))


def test_what_cannot_be_sent_is_named():
    with pytest.raises(ValueError, match="Received: complex128"):
        wire.number_tensor(np.array([1j]))
    with pytest.raises(ValueError, match="a tensor of type 20"):
        wire.numpy_type("type 20")


def test_left_out_values_repeat_the_last_one():
    assert wire.array(_tensor(types_pb2.DT_FLOAT, 3, float_val=[1, 2])).tolist() == [1, 2, 2]
    assert wire.array(_tensor(types_pb2.DT_STRING, 2)).tolist() == [b"", b""]


def test_an_unknown_type_is_named():
    with pytest.raises(ValueError, match="type 20"):
        wire.array(_tensor(types_pb2.DT_RESOURCE, 1))
    assert wire.type_name(types_pb2.DT_STRING) == "string"


def _tensor(dtype, size, **values):
    tensor = wire.Tensor(dtype=dtype, **values)
    tensor.tensor_shape.dim.add(size=size)
    return tensor
