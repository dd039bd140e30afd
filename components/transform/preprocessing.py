"""The preprocessing function that TFX's Transform runs, found by its import path.

Processes that load the transform graph need TF-Text's ops: they get them with this import.
"""

from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401

from pairloom.models.text.subwords import read_subwords

__all__ = ["LENGTH_SUFFIX", "preprocessing_fn"]

LENGTH_SUFFIX = "_length"


def preprocessing_fn(
    inputs: dict[str, tf.Tensor | tf.SparseTensor], custom_config: dict[str, Any]
) -> dict[str, tf.Tensor | tf.RaggedTensor]:
    """Makes text ids.

    `{"source": [["a dog"]]}` becomes `{"source": [[17, 240]], "source_length": [2]}`.

    Args:
        inputs: Features of a batch of examples; text as `(batch, 1)`.
        custom_config: `{"subwords": folder}`, the folder that SubwordLearner wrote.

    Returns:
        For each text field F: `F`, `(batch, (time))` of int64 ids without begin and end, and
        `F_length`, `(batch,)`, their number.
    """
    outputs = {}
    for field, subwords in read_subwords(custom_config["subwords"]).items():
        ids = subwords.ids(_strings(inputs[field]))
        outputs[field] = ids
        outputs[field + LENGTH_SUFFIX] = tf.cast(ids.row_lengths(), tf.int64)
    return outputs


def _strings(feature: tf.Tensor | tf.SparseTensor) -> tf.Tensor:
    """A feature as `(batch,)`, however the schema describes it."""
    if isinstance(feature, tf.SparseTensor):
        feature = tf.sparse.to_dense(feature, default_value="")
    if feature.shape.rank == 1:
        return feature
    return tf.strings.reduce_join(feature, axis=1)
