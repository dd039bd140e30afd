"""Attention encoder-decoders as Keras layers that anyone can reuse."""

from pairloom.models.attention import MultiHeadAttention, SoftAttention
from pairloom.models.cells import GRUCell, LSTMCell
from pairloom.models.decoders import RecurrentDecoder, TransformerDecoder
from pairloom.models.encoder_decoder import EncoderDecoder
from pairloom.models.encoders import TokenEncoder, TransformerEncoder
from pairloom.models.memory import Memory
from pairloom.models.recurrence import Recurrence
from pairloom.models.scores import AdditiveScore, GeneralScore
from pairloom.models.search import Hypotheses, beam_search, greedy_search

__all__ = [
    "AdditiveScore",
    "EncoderDecoder",
    "GRUCell",
    "GeneralScore",
    "Hypotheses",
    "LSTMCell",
    "Memory",
    "MultiHeadAttention",
    "RecurrentDecoder",
    "Recurrence",
    "SoftAttention",
    "TokenEncoder",
    "TransformerDecoder",
    "TransformerEncoder",
    "beam_search",
    "greedy_search",
]
