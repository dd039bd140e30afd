"""Encoders: from a field's tensors to a `Memory`."""

from pairloom.models.encoders.token_encoder import TokenEncoder

__all__ = [
    "TokenEncoder",
]
