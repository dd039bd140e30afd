"""Attention encoder-decoders as Keras layers that anyone can reuse.

The layers run on every backend of Keras. The search is TensorFlow's, which is not imported before
a name of it is used.
"""

import importlib as _importlib
import typing as _typing

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

if _typing.TYPE_CHECKING:
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


def __getattr__(name: str) -> _typing.Any:
    if name not in ("Hypotheses", "beam_search", "greedy_search", "sample"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module("pairloom.models.search"), name)
