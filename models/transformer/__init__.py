"""What the Transformer's encoder and decoder are both made of."""

from pairloom.models.transformer.block import TransformerBlock
from pairloom.models.transformer.embedding import embed, embedding_of_width
from pairloom.models.transformer.feed_forward import FeedForward

__all__ = ["FeedForward", "TransformerBlock", "embed", "embedding_of_width"]
