"""What a recipe may say of a vocabulary."""

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Vocabulary"]


@dataclass(frozen=True)
class Vocabulary:
    """How a vocabulary is learned, and how large it may get."""

    method: Literal["bpe", "unigram", "characters", "letters", "words"] = "bpe"
    # Four special ids and the 256 bytes are counted in; the learner wants some more.
    size: int = field(default=8000, metadata={"at_least": 264})
