import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow_serving.apis import prediction_log_pb2

from pairloom.serving.warmup_requests import (
    has_warmup_requests,
    read_warmup_requests,
    write_warmup_requests,
)


def test_requests_are_where_tf_serving_looks_for_them(tmp_path):
    write_warmup_requests(str(tmp_path), [("score", {"source": ["ü"], "target": ["b"]})])
    path = tmp_path / "assets.extra" / "tf_serving_warmup_requests"
    [record] = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    log = prediction_log_pb2.PredictionLog.FromString(record)
    assert log.WhichOneof("log_type") == "predict_log"
    request = log.predict_log.request
    assert request.model_spec.signature_name == "score"
    values = {name: tf.make_ndarray(proto).tolist() for name, proto in request.inputs.items()}
    assert values == {"source": ["ü".encode()], "target": [b"b"]}


def test_values_keep_their_own_types(tmp_path):
    numbers = np.array([[1, 2]], np.int64)
    inputs = {"a": [[0.5, 1.0], (2.0, 3.0)], "b": [b"\xff"], "c": ["x"], "d": [7], "e": numbers}
    write_warmup_requests(str(tmp_path), [("s", inputs), ("describe", {})])
    given, nothing = read_warmup_requests(str(tmp_path))
    read = {name: tf.make_ndarray(p) for name, p in given.predict_log.request.inputs.items()}
    types = {name: value.dtype for name, value in read.items()}
    assert types == {"a": np.float32, "b": object, "c": object, "d": np.int32, "e": np.int64}
    assert {name: value.tolist() for name, value in read.items()} == {
        "a": [[0.5, 1.0], [2.0, 3.0]], "b": [b"\xff"], "c": [b"x"], "d": [7], "e": [[1, 2]],
    }  # fmt: skip
    assert not nothing.predict_log.request.inputs


def test_what_was_written_is_read_in_its_order(tmp_path):
    assert not has_warmup_requests(str(tmp_path))
    write_warmup_requests(str(tmp_path), [("a", {"x": ["1"]}), ("b", {"x": ["2", "3"]})])
    assert has_warmup_requests(str(tmp_path))
    names = [
        log.predict_log.request.model_spec.signature_name
        for log in read_warmup_requests(str(tmp_path))
    ]
    assert names == ["a", "b"]


def test_a_broken_file_is_told_from_a_broken_record(tmp_path):
    path = tmp_path / "assets.extra" / "tf_serving_warmup_requests"
    path.parent.mkdir()
    path.write_text("no TFRecord, though long enough to look like one")
    with pytest.raises(tf.errors.DataLossError):
        list(read_warmup_requests(str(tmp_path)))
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"\xff\xff")
    with pytest.raises(DecodeError):
        list(read_warmup_requests(str(tmp_path)))
