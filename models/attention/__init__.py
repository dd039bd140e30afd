"""Attention modes: what is made of the scores."""

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.multi_head import MultiHeadAttention
from pairloom.models.attention.soft import SoftAttention

__all__ = ["MultiHeadAttention", "SoftAttention", "masked_softmax"]
