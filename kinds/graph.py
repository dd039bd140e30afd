"""What every kind's `Graph` is: the way from a value to the tensor that an encoder reads.

The same graph runs in Transform, over stored values, and in the SavedModel, over served ones.
"""

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

import tensorflow as tf

from pairloom.kinds.columns import Column, Part

__all__ = ["FieldGraph"]


class FieldGraph(tf.Module, abc.ABC):
    """A field's values in the graph.

    Args:
        name: The field's.
        options: What the recipe says of the field.
        learned: What the kind's `learn` gave.

    Attributes:
        size: The number of ids or classes, or a vector's width: what layers are made with.
    """

    parts: ClassVar[tuple[str, ...]] = ("",)
    """Which of what `transform` writes a column is made of."""
    named: ClassVar[bool] = False
    """Whether its places have names: `places` gives them."""
    levels: ClassVar[tuple[str, ...]] = ()
    """What there is inside each of its places, as the words of a sentence."""
    shared: ClassVar[bool] = False
    """Whether values are so costly that pairs of an equal one share it: the same batch where they
    can, one copy in memory, encoded once. Its `column` is then a `SharedColumn`."""

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name=f"field_{name}")
        self.field = name
        self.options = options
        self.learned = learned

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of ids or classes, or a vector's width."""

    @abc.abstractmethod
    def stored_spec(self) -> Any:
        """How a stored value is parsed from an example: a feature of `tf.io`."""

    @abc.abstractmethod
    def served_spec(self) -> tf.TensorSpec:
        """What a client sends, batch first, named after the field."""

    @abc.abstractmethod
    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        """Values, stored or served, to what Transform writes, by suffix of the field's name."""

    @abc.abstractmethod
    def column(self, parts: Sequence[Part]) -> Column:
        """What Transform wrote, a part for each batch that was parsed, as a column for batches.

        A part has the names of `transform`; of ragged features, with `:lengths` behind the name,
        the lengths of their rows.
        """

    @abc.abstractmethod
    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        """Served values to what an encoder reads: the batch that `column` would cut."""

    @abc.abstractmethod
    def tensor_spec(self) -> tf.TensorSpec:
        """The shape and type of that tensor."""

    def places(self, tensor: tf.Tensor) -> tf.Tensor:
        """Names of what there is to attend to in that tensor, "" where there is nothing."""
        raise NotImplementedError

    def word_numbers(self, tensor: tf.Tensor) -> tf.Tensor:
        """Which word each place of that tensor is part of, `(batch, time)`, -1 where of none."""
        raise NotImplementedError

    def present(self, values: tf.Tensor) -> tf.Tensor | None:
        """Which served values hold something, `(batch,)`; None: all of them do."""
        del values
        return None

    def corrupted(self, tensor: tf.Tensor, seed: tf.Tensor | None = None) -> tf.Tensor:
        """The tensor as training and evaluation see it, where the recipe spoils it on purpose.

        Training gives a seed, `(2,)`, another one at every step, and all that is drawn must come
        from it: else a training that goes on would not be the one that was stopped. Without one a
        value is always spoiled alike, or, where spoiling only makes more of few examples, not at
        all.
        """
        del seed
        return tensor

    def start(self, width: int) -> dict[int, Any]:
        """What rows of an embedding of that width start from: id to vector, of those known."""
        del width
        return {}

    def description(self) -> dict[str, Any]:
        """What a client or a page must know of the field besides its name and kind."""
        return {}

    @abc.abstractmethod
    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        """The way back: what an encoder reads, or a decoder learns to write, as served values."""
