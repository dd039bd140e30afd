"""Encoders: from a field's tensors to a `Memory`."""

from pairloom.models.encoders.hierarchical_encoder import HierarchicalEncoder
from pairloom.models.encoders.token_encoder import TokenEncoder

__all__ = [
    "HierarchicalEncoder",
    "TokenEncoder",
]
