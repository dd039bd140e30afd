"""Attention modes: what is made of the scores."""

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.pooling import AttentionPooling
from pairloom.models.attention.soft import SoftAttention

__all__ = ["AttentionPooling", "SoftAttention", "masked_softmax"]
