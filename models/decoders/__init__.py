"""Decoders: from a `Memory` to the output field."""

from pairloom.models.decoders.class_head import ClassHead
from pairloom.models.decoders.recurrent_decoder import RecurrentDecoder
from pairloom.models.decoders.transformer_decoder import TransformerDecoder
from pairloom.models.decoders.vector_decoder import VectorDecoder

__all__ = ["ClassHead", "RecurrentDecoder", "TransformerDecoder", "VectorDecoder"]
