"""What the client answers with."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from pairloom.kinds.looked import Looked

__all__ = [
    "Answer",
    "Explanation",
    "Looked",
    "Metadata",
    "Score",
    "Signature",
    "TensorInfo",
    "VersionStatus",
]


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the model says to one row of inputs.

    Args:
        value: Of the output's kind: a text, a label, a list of numbers.
        score: Of a text its log probability, length-normalised; 0 is best. NaN: it has none.
        probabilities: Where the value is one of a few, the probability of each.
        cut: Whether the limit of length ended it, and not the model.
    """

    value: Any
    score: float = np.nan
    probabilities: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    cut: bool = False

    @property
    def text(self) -> str:
        """The value, if it is a text; else how Python writes it."""
        return str(self.value)


class _Fields:
    """What was looked at, with the short names that serve where there is one input."""

    target_tokens: tuple[str, ...]
    fields: Mapping[str, Looked]

    @property
    def source_tokens(self) -> tuple[Any, ...]:
        """The only input as the model reads it; empty where there is none."""
        return self._only.tokens

    @property
    def attention(self) -> np.ndarray:
        """`(target, places)` of the only input; zeros where nothing attends to it."""
        looked = self._only
        if looked.attention is None:
            return np.zeros((len(self.target_tokens), len(looked.tokens)), np.float32)
        return looked.attention

    @property
    def _only(self) -> Looked:
        if len(self.fields) > 1:
            raise ValueError(
                f"Expected one input. There are {', '.join(self.fields)}: see `fields`."
            )
        return next(iter(self.fields.values()), Looked())


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation(_Fields):
    """An answer and where the model looked for it.

    Args:
        value: The answer, of the output's kind.
        score: Its score; NaN: it has none.
        target_tokens: The answer as the model writes it.
        fields: What it looked at in each input, by name.
        probabilities: Where the value is one of a few, the probability of each.
        cut: Whether the limit of length ended it, and not the model.
    """

    value: Any
    score: float
    target_tokens: tuple[str, ...]
    fields: Mapping[str, Looked]
    probabilities: Mapping[str, float] = dataclasses.field(default_factory=dict)
    cut: bool = False

    @property
    def text(self) -> str:
        """The value, if it is a text; else how Python writes it."""
        return str(self.value)


@dataclasses.dataclass(frozen=True, eq=False)
class Score(_Fields):
    """How likely the model finds a given value of its output.

    Args:
        log_probability: Of the whole value.
        token_scores: `(target tokens,)`, the log probability of each.
        target_tokens: The value as the model reads it.
        fields: What it looked at in each input, by name.
        activations: `(target tokens, units)`, what a model without inputs holds at each
            token; None: it does not tell.
    """

    log_probability: float
    token_scores: np.ndarray
    target_tokens: tuple[str, ...]
    fields: Mapping[str, Looked]
    activations: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class VersionStatus:
    """One version of a model on the server; `error` is empty when all is well."""

    version: int
    state: str
    error: str


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """Type and shape of an input or output; -1 is any size, a shape of None any rank."""

    dtype: str
    shape: tuple[int, ...] | None


@dataclasses.dataclass(frozen=True)
class Signature:
    """Inputs and outputs of a signature, by name."""

    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]


@dataclasses.dataclass(frozen=True)
class Metadata:
    """What a model offers."""

    model: str
    version: int
    signatures: dict[str, Signature]
