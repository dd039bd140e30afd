"""What the client answers with."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Answer:
    """What the model says to one input: the text and its score (length-normalised, 0 is best)."""

    text: str
    score: float


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation:
    """An answer and where the model looked for it.

    Args:
        text: The answer.
        score: Its score.
        source_tokens: The input as the model reads it.
        target_tokens: The answer as the model writes it.
        attention: `(target tokens, source tokens)`, without padding.
    """

    text: str
    score: float
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    attention: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Score:
    """How likely the model finds a given target.

    Args:
        log_probability: Of the whole target.
        token_scores: `(target tokens,)`, the log probability of each.
        source_tokens: The input as the model reads it.
        target_tokens: The target as the model reads it.
        attention: `(target tokens, source tokens)`, without padding.
    """

    log_probability: float
    token_scores: np.ndarray
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    attention: np.ndarray


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
