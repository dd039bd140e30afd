"""Encoders: from a field's tensors to a `Memory`."""

from pairloom.models.encoders.token_encoder import TokenEncoder
from pairloom.models.encoders.transformer_encoder import TransformerEncoder

__all__ = ["TokenEncoder", "TransformerEncoder"]
