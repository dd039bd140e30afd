"""Attention encoder-decoders as Keras layers that anyone can reuse."""

from pairloom.models.attention import AttentionPooling, SoftAttention
from pairloom.models.cells import GRUCell, LSTMCell
from pairloom.models.corruption import Corruption
from pairloom.models.decoders import ClassHead, RecurrentDecoder, VectorDecoder
from pairloom.models.encoder_decoder import EncoderDecoder
from pairloom.models.encoders import (
    FeatureEncoder,
    FrameEncoder,
    HierarchicalEncoder,
    ImageEncoder,
    TokenEncoder,
)
from pairloom.models.memory import Memory
from pairloom.models.recurrence import Recurrence
from pairloom.models.scores import AdditiveScore, GeneralScore
from pairloom.models.search import Hypotheses, beam_search, greedy_search

__all__ = [
    "AdditiveScore",
    "AttentionPooling",
    "ClassHead",
    "Corruption",
    "EncoderDecoder",
    "FeatureEncoder",
    "FrameEncoder",
    "GRUCell",
    "GeneralScore",
    "HierarchicalEncoder",
    "Hypotheses",
    "ImageEncoder",
    "LSTMCell",
    "Memory",
    "Recurrence",
    "RecurrentDecoder",
    "SoftAttention",
    "TokenEncoder",
    "VectorDecoder",
    "beam_search",
    "greedy_search",
]
