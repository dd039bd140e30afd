"""Luong's bilinear score."""

import keras
from keras import ops

from pairloom.models.product import product
from pairloom.models.scores.score import Score


@keras.saving.register_keras_serializable(package="pairloom")
class GeneralScore(Score):
    """Scores every memory position with one matrix between query and memory.

    `score(q, m) = q . W m`, Luong et al. (2015), equation 8. Also called multiplicative, bilinear.

    Args:
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, and what every
            Keras layer takes.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        keys: What `keys(memory)` gave; made anew when not given.
        multiply: Not used: no matrix meets the query itself.

    Returns:
        `(batch, query_time, memory_time)`, not normalised.
    """

    kinds = {"kernel": "glorot_uniform"}

    def build(self, query_shape, memory_shape, keys_shape=None):
        self.kernel = self.add("kernel", (memory_shape[-1], query_shape[-1]))

    def keys(self, memory):
        """The part `W m` that no query changes: `(batch, memory_time, query_units)`."""
        return product(memory, self.kernel)

    def call(self, query, memory, keys=None, multiply=None):
        keys = self.keys(memory) if keys is None else keys
        return ops.matmul(query, ops.swapaxes(keys, 1, 2))
