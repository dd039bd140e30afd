"""What every kind's `Output` is: how a field learns to be written, and is answered with."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import keras
import tensorflow as tf

from pairloom.kinds.columns import Column, Part
from pairloom.kinds.graph import FieldGraph
from pairloom.models.encoder_decoder import Encoded, EncoderDecoder
from pairloom.models.ensemble import AnyModel

__all__ = ["PLAIN", "FieldOutput", "Objective", "Tensors"]

Tensors = dict[str, tf.Tensor]


@dataclass(frozen=True)
class Objective:
    """What is made smaller beside the plain loss, and how.

    Attributes:
        label_smoothing: Share of the probability that is spread over all ids or labels.
        coverage: Weight of the doubly stochastic regulariser.
        sampled: Draws for scheduled sampling; None: off.
        sampled_share: Share of the fed ids that it replaces.
        fixed_shapes: Computes padded positions too and weighs them with 0, as XLA needs.
        training: Whether dropout and draws are on.
        supervision: Weight of the loss between the attention and `links`; 0: off.
        links: A batch of alignments, of words of the only input with words of the output.
        source_words: Which word each place of the input is part of, as `word_numbers` gives it.
    """

    label_smoothing: float = 0.0
    coverage: float = 0.0
    sampled: keras.random.SeedGenerator | None = None
    sampled_share: Any = 0.0
    fixed_shapes: bool = False
    training: bool = False
    supervision: float = 0.0
    links: Any = None
    source_words: Any = None


PLAIN = Objective()


class FieldOutput(abc.ABC):
    """A field that is written. Values are as its `FieldGraph` reads and serves them.

    Args:
        graph: The field's.
        settings: The recipe's section `search`, for kinds that search.

    Attributes:
        unit: What a loss is the mean over: `tokens`, `examples`.
        offers: Which of the signatures `nbest`, `sample` and `score` there are.
    """

    unit: ClassVar[str] = "examples"
    offers: tuple[str, ...] = ()

    def __init__(self, graph: Any, settings: Mapping[str, Any]):
        self.graph: Any = graph
        self.settings = settings

    def column(self, parts: Sequence[Part]) -> Column:
        """What Transform wrote as targets."""
        graph: FieldGraph = self.graph
        return graph.column(parts)

    @abc.abstractmethod
    def count(self, target: tf.Tensor) -> tf.Tensor:
        """How many units a batch of targets has, a float32 number."""

    @abc.abstractmethod
    def loss(
        self, model: EncoderDecoder, encoded: Encoded, target: tf.Tensor, objective: Objective
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The summed loss of a batch, and the number of units in it."""

    @abc.abstractmethod
    def answer(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        """The answers: the field's name to `(batch, ...)`, and `score (batch,)`."""

    def nbest(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        """The best few answers and their scores, `(batch, k)`."""
        raise NotImplementedError

    def samples(self, model: AnyModel, encoded: Encoded, seed, **how: Any) -> Tensors:
        """Answers drawn as likely as they are, and their scores, `(batch, n)`."""
        raise NotImplementedError

    @abc.abstractmethod
    def explain(
        self, model: AnyModel, encoded: Encoded, **how: Any
    ) -> tuple[Tensors, tf.Tensor | None]:
        """`answer` with `target_tokens`, and the weights `(batch, places, memory_time)`."""

    def score(
        self, model: AnyModel, encoded: Encoded, values: tf.Tensor
    ) -> tuple[Tensors, tf.Tensor | None]:
        """How likely given values are, with `target_tokens`, and the weights.

        The model may be an ensemble: `model.each(encoded.memory)` gives every decoder.
        """
        raise NotImplementedError

    def judged(self, model: AnyModel, encoded: Encoded, values: tf.Tensor) -> Tensors:
        """`log_probability`, `tokens` and `correct` of given values, each `(batch,)`."""
        raise NotImplementedError

    def aligned(
        self, model: AnyModel, encoded: Encoded, values: tf.Tensor, source_words: tf.Tensor
    ) -> tf.Tensor:
        """The links that the attention to the only input makes of given values, `(batch,)`.

        Strings as `0-0 2-1`, the words of the input before those of the output.
        """
        raise NotImplementedError

    def axes(self) -> dict[str, tuple[str, ...]]:
        """What the axes behind the batch run along, of each of its outputs."""
        return {}
