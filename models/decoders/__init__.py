"""Decoders: from a `Memory` to the output field."""

from pairloom.models.decoders.recurrent_decoder import RecurrentDecoder
from pairloom.models.decoders.transformer_decoder import TransformerDecoder

__all__ = ["RecurrentDecoder", "TransformerDecoder"]
