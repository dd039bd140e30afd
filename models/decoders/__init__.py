"""Decoders: from a `Memory` to the output field."""

from pairloom.models.decoders.recurrent_decoder import RecurrentDecoder

__all__ = ["RecurrentDecoder"]
