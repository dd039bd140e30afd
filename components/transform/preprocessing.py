"""The preprocessing function that TFX's Transform runs, found by its import path.

Processes that load the transform graph need TF-Text's ops: they get them with this import.
"""

import math
from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401

from pairloom.kinds.learned import read_fields

__all__ = ["preprocessing_fn"]


def preprocessing_fn(
    inputs: dict[str, tf.Tensor | tf.SparseTensor], custom_config: dict[str, Any]
) -> dict[str, tf.Tensor | tf.RaggedTensor]:
    """Makes of each field what its kind's graph makes of it.

    Of two texts, `{"source": [["a dog"]], ...}` becomes `{"source": [[17, 240]],
    "source_length": [2], ...}`.

    Args:
        inputs: Features of a batch of examples.
        custom_config: `{"learned": folder}`, the folder that FieldLearner wrote.

    Returns:
        What each field's `transform` gives, its names behind the field's.
    """
    outputs = {}
    for field, graph in read_fields(custom_config["learned"]).items():
        shape = graph.stored_spec().shape
        for suffix, made in graph.transform(_values(inputs[field], shape)).items():
            outputs[field + suffix] = made
    return outputs


def _values(feature: tf.Tensor | tf.SparseTensor, shape: list[int]) -> tf.Tensor:
    """A feature as `(batch, *shape)`, however the schema describes it."""
    if isinstance(feature, tf.SparseTensor):
        feature = tf.sparse.to_dense(feature)
    rows = tf.shape(feature)[0]
    # Else a row of another width than the train split's would be cut into two.
    same = tf.debugging.assert_equal(
        tf.size(feature), rows * math.prod(shape), message="A value is not as wide as in train."
    )
    with tf.control_dependencies([same]):
        return tf.reshape(feature, [rows, *shape])
