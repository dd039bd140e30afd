"""The requests that a SavedModel brings along to be warmed up with.

TF Serving reads `assets.extra/tf_serving_warmup_requests` in a version's folder, a TFRecord of
`PredictionLog` messages, and calls the model with each before the version takes requests. It
reads the signature's name and the inputs; the model's name in a request is of no account.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tensorflow_serving.apis import prediction_log_pb2

WARMUP_FILE = "assets.extra/tf_serving_warmup_requests"
MOST_REQUESTS = 1000
"""TF Serving refuses a version that brings more."""


def write_warmup_requests(
    folder: str, requests: Iterable[tuple[str, Mapping[str, Sequence[Any]]]]
) -> None:
    """Writes the file into a SavedModel's folder.

    Args:
        folder: The SavedModel, any path that TensorFlow can write.
        requests: A signature's name and its inputs for each, rows of texts, bytes or numbers:
            `("score", {"source": ["a dog"], "target": ["ein Hund"]})`.
    """
    from tensorflow_serving.apis import prediction_log_pb2

    path = tf.io.gfile.join(folder, WARMUP_FILE)
    tf.io.gfile.makedirs(path.rpartition("/")[0])
    with tf.io.TFRecordWriter(path) as writer:
        for signature, inputs in requests:
            log = prediction_log_pb2.PredictionLog()
            request = log.predict_log.request
            request.model_spec.signature_name = signature
            for name, values in inputs.items():
                request.inputs[name].CopyFrom(_tensor(values))
            writer.write(log.SerializeToString())


def _tensor(values: Sequence[Any]) -> Any:
    """Rows as a tensor of their own type."""
    rows = list(values)
    # TensorFlow takes an array, or lists of plain values, but no list of arrays.
    if rows and isinstance(rows[0], np.ndarray):
        return tf.make_tensor_proto(np.stack(rows))
    return tf.make_tensor_proto(rows)


def has_warmup_requests(folder: str) -> bool:
    """Whether a SavedModel brings the file."""
    return tf.io.gfile.exists(tf.io.gfile.join(folder, WARMUP_FILE))


def read_warmup_requests(folder: str) -> "Iterator[prediction_log_pb2.PredictionLog]":
    """Reads the file again, message by message.

    Raises:
        tf.errors.DataLossError: The file is no TFRecord, or ends within a record.
        google.protobuf.message.DecodeError: A record is no `PredictionLog`.
    """
    from tensorflow_serving.apis import prediction_log_pb2

    path = tf.io.gfile.join(folder, WARMUP_FILE)
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        yield prediction_log_pb2.PredictionLog.FromString(record)
