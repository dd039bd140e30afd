"""Encoders: from a field's tensors to a `Memory`."""

from pairloom.models.encoders.blank_encoder import BlankEncoder
from pairloom.models.encoders.feature_encoder import FeatureEncoder
from pairloom.models.encoders.frame_encoder import FrameEncoder
from pairloom.models.encoders.hierarchical_encoder import HierarchicalEncoder
from pairloom.models.encoders.image_encoder import ImageEncoder
from pairloom.models.encoders.token_encoder import TokenEncoder
from pairloom.models.encoders.transformer_encoder import TransformerEncoder

__all__ = [
    "BlankEncoder",
    "FeatureEncoder",
    "FrameEncoder",
    "HierarchicalEncoder",
    "ImageEncoder",
    "TokenEncoder",
    "TransformerEncoder",
]
