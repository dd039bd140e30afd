"""Soft, global attention."""

import keras

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.scored import ScoredAttention


@keras.saving.register_keras_serializable(package="pairloom")
class SoftAttention(ScoredAttention):
    """Attends to all positions at once: `c = sum_j a_j m_j`, `a = softmax(score(q, m))`.

    Bahdanau et al. (2015), equations 5 and 6; the global attention of Luong et al. (2015).

    Args:
        score: A score layer, such as `AdditiveScore(128)`.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)`, True where there is something.

    Returns:
        `(context, weights)`: `(batch, query_time, memory_units)` and
        `(batch, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    def attend(self, scores, mask, query, multiply, position, noise, training):
        weights = masked_softmax(scores, mask)
        return multiply("memory", weights), weights
