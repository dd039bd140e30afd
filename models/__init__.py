"""Attention encoder-decoders as Keras layers that anyone can reuse.

The layers and the searches run on every backend of Keras, and import no other.
"""

from pairloom.models.attention import (
    AttentionPooling,
    HardAttention,
    LocalAttention,
    MultiHeadAttention,
    SoftAttention,
)
from pairloom.models.cells import GRUCell, LSTMCell, MUT1Cell, MUT2Cell, MUT3Cell, SimpleCell
from pairloom.models.corruption import Corruption
from pairloom.models.decoders import ClassHead, RecurrentDecoder, TransformerDecoder, VectorDecoder
from pairloom.models.encoder_decoder import EncoderDecoder
from pairloom.models.encoders import (
    FeatureEncoder,
    FrameEncoder,
    HierarchicalEncoder,
    ImageEncoder,
    TokenEncoder,
    TransformerEncoder,
)
from pairloom.models.memory import Memory
from pairloom.models.recurrence import LSTMN, Recurrence
from pairloom.models.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
)
from pairloom.models.search import Hypotheses, beam_search, greedy_search, sample

__all__ = [
    "AdditiveScore",
    "AttentionPooling",
    "ClassHead",
    "Corruption",
    "CosineScore",
    "DotScore",
    "EncoderDecoder",
    "FeatureEncoder",
    "FrameEncoder",
    "GRUCell",
    "GeneralScore",
    "HardAttention",
    "HierarchicalEncoder",
    "Hypotheses",
    "ImageEncoder",
    "LSTMCell",
    "LSTMN",
    "LocalAttention",
    "LocationScore",
    "MUT1Cell",
    "MUT2Cell",
    "MUT3Cell",
    "Memory",
    "MultiHeadAttention",
    "Recurrence",
    "RecurrentDecoder",
    "ScaledDotScore",
    "SimpleCell",
    "SoftAttention",
    "TokenEncoder",
    "TransformerDecoder",
    "TransformerEncoder",
    "VectorDecoder",
    "beam_search",
    "greedy_search",
    "sample",
]
