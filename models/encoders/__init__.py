"""Encoders: from a field's tensors to a `Memory`."""

from pairloom.models.encoders.frame_encoder import FrameEncoder
from pairloom.models.encoders.hierarchical_encoder import HierarchicalEncoder
from pairloom.models.encoders.image_encoder import ImageEncoder
from pairloom.models.encoders.token_encoder import TokenEncoder

__all__ = [
    "FrameEncoder",
    "HierarchicalEncoder",
    "ImageEncoder",
    "TokenEncoder",
]
