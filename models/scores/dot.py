"""The plain dot product."""

import keras
from keras import ops

from pairloom.models.scores.score import Score


@keras.saving.register_keras_serializable(package="pairloom")
class DotScore(Score):
    """Scores every memory position with its dot product with the query.

    `score(q, m) = q . m`, Luong et al. (2015), equation 8. It has no weights, so query and memory
    must be equally wide.

    Call arguments:
        query: `(batch, query_time, units)`.
        memory: `(batch, memory_time, units)`.
        keys: What `keys(memory)` gave: the memory itself.
        multiply: Not used: no matrix meets the query.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    def build(self, query_shape, memory_shape, keys_shape=None):
        check_equal_widths(self, query_shape, memory_shape)

    def call(self, query, memory, keys=None, multiply=None):
        return ops.matmul(query, ops.swapaxes(memory, 1, 2))


def check_equal_widths(score: keras.layers.Layer, query_shape, memory_shape) -> None:
    """Scores without weights compare vectors as they are."""
    if query_shape[-1] != memory_shape[-1]:
        raise ValueError(
            f"`{type(score).__name__}` compares query and memory as they are, so both must be "
            f"equally wide; `GeneralScore` takes any two widths. Received: query units "
            f"{query_shape[-1]}, memory units {memory_shape[-1]}."
        )
