"""Attention encoder-decoders as Keras layers that anyone can reuse."""

from pairloom.models.attention import HardAttention, LocalAttention, SoftAttention
from pairloom.models.cells import GRUCell, LSTMCell, MUT1Cell, MUT2Cell, MUT3Cell, SimpleCell
from pairloom.models.decoders import RecurrentDecoder
from pairloom.models.encoder_decoder import EncoderDecoder
from pairloom.models.encoders import TokenEncoder
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
    "LSTMN",
    "AdditiveScore",
    "CosineScore",
    "DotScore",
    "EncoderDecoder",
    "GRUCell",
    "GeneralScore",
    "HardAttention",
    "Hypotheses",
    "LSTMCell",
    "LocalAttention",
    "LocationScore",
    "MUT1Cell",
    "MUT2Cell",
    "MUT3Cell",
    "Memory",
    "RecurrentDecoder",
    "Recurrence",
    "ScaledDotScore",
    "SimpleCell",
    "SoftAttention",
    "TokenEncoder",
    "beam_search",
    "greedy_search",
    "sample",
]
