"""The content-based score."""

import keras
from keras import ops

from pairloom.models.scores.dot import check_equal_widths
from pairloom.models.scores.score import Score


@keras.saving.register_keras_serializable(package="pairloom")
class CosineScore(Score):
    """Scores every memory position with the cosine of its angle to the query.

    `score(q, m) = b * q . m / (|q| |m|)`, Graves et al. (2014), equations 5 and 6. `b` is learned
    and starts at 1, the plain cosine: that alone lies between -1 and 1, so that no softmax of it
    could ever choose one position of many. Query and memory must be equally wide.

    Args:
        **kwargs: `sharpness_initializer`, `sharpness_regularizer`, `sharpness_constraint`, and what
            every Keras layer takes.

    Call arguments:
        query: `(batch, query_time, units)`.
        memory: `(batch, memory_time, units)`.
        keys: What `keys(memory)` gave; made anew when not given.
        multiply: Not used: no matrix meets the query.

    Returns:
        `(batch, query_time, memory_time)`, not normalised; 0 for a vector of zeros.
    """

    kinds = {"sharpness": "ones"}

    def build(self, query_shape, memory_shape, keys_shape=None):
        check_equal_widths(self, query_shape, memory_shape)
        self.sharpness = self.add("sharpness", (), "sharpness")

    def keys(self, memory):
        """The memory's vectors, each of length 1."""
        return _of_length_one(memory)

    def call(self, query, memory, keys=None, multiply=None):
        keys = self.keys(memory) if keys is None else keys
        cosine = ops.matmul(_of_length_one(query), ops.swapaxes(keys, 1, 2))
        return ops.cast(self.sharpness, cosine.dtype) * cosine


def _of_length_one(vectors):
    # In float32, for the squares of small float16 numbers are nothing.
    wide = ops.cast(vectors, "float32") if vectors.dtype != "float64" else vectors
    squares = ops.sum(ops.square(wide), -1, keepdims=True)
    return ops.cast(wide * ops.rsqrt(ops.maximum(squares, 1e-12)), vectors.dtype)
