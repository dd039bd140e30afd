"""What the kinds are asked when a recipe is written for files that nobody has described.

A kind's folder may hold a `looking.py` with two functions:

- `fits(values, written="")`: how well raw values look like the kind's, from 0 (they cannot be) to
  1, and why in a few words. `written` is the form that the output is written in, where these values
  are an input.
- `suggest(values, size, source=None)`: an `Advice`. `source` is None where the values are an input
  alone; else they are the output, and it is the form of what is read, "" where nothing is.

Raw values are as files hold them: strings, and what JSON has besides. Where a kind's values are
files these are their paths, and the module also has `CALLED`: what such a field is called where
nobody says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["Advice", "Size", "middle", "quantile", "spread"]

T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """How much data there is, and how large a network that makes.

    Attributes:
        rows: How many pairs.
        units: Width of the network.
        dropout: Share dropped in training.
    """

    rows: int
    units: int
    dropout: float


@dataclass(frozen=True)
class Advice:
    """Settings that suit the values of one field, as a recipe writes them.

    Attributes:
        described: What the values are like, in a few words.
        options: Of the field, besides its kind and vocabulary.
        vocabulary: Of the field's vocabulary; empty: it has none.
        why: The reason for that vocabulary.
        sharing: Two fields that say the same here can have one vocabulary; empty: never.
        encoder: The section that reads it.
        decoder: The section that writes it.
        training: What else training should know.
        asked: What changes in the decoder, of an output, where one of two inputs asks the other;
            empty: it cannot.
        search: The section `search`, of an output.
        metrics: Shown names to metrics, of an output; the first is compared.
        threshold: What one could ask of the first of them, as `at_least: 20`.
        tolerance: By how much the first may get worse.
        buckets: Bounds of its lengths that cut the rows into about equal parts, of an input.
        counted: What these lengths count.
        cost: Places of a usual row.
        places: The same where it decides how large a batch is: 0 for texts, whose batches are as
            large as the number of rows suggests.
        longest: Characters of the longest value.
    """

    described: str
    options: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    sharing: str = ""
    encoder: Mapping[str, Any] = field(default_factory=dict)
    decoder: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    threshold: str = ""
    tolerance: float = 0.5
    buckets: tuple[int, ...] = ()
    counted: str = ""
    cost: int = 1
    places: int = 0
    longest: int = 0


def quantile(ordered: Sequence[int], percent: int) -> int:
    """The number that so many in a hundred of these are below."""
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def middle(numbers: Sequence[int]) -> int:
    """The number that half of these are below."""
    return quantile(sorted(numbers), 50)


def spread(values: Sequence[T], at_most: int) -> Sequence[T]:
    """So many of the values or fewer, from everywhere among them: files are often sorted."""
    return values[:: -(-len(values) // at_most) or 1]
