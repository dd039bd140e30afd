"""What a recipe may say of the search for a text: its section `search`."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Search"]


def _setting(default: Any, **limits: float) -> Any:
    return field(default=default, metadata=limits)


@dataclass(frozen=True)
class Search:
    """How the served model looks for its answer; `beam: 1` is greedy.

    Lengths count tokens and the end. No `no_repeat_ngrams` tokens in a row come twice; 0 is off.
    `nbest` is how many answers the signature of that name gives; None means 5, or `beam` if that
    is less. With `samples` above 0 there is a signature `sample` that draws so many answers, by
    `temperature`, among the `top_k` likeliest tokens, or those that reach a share of `top_p`.
    """

    beam: int = _setting(5, at_least=1)
    length_penalty: float = _setting(0.6, at_least=0)
    coverage_penalty: float = _setting(0.0, at_least=0)
    max_length: int = _setting(100, at_least=1)
    min_length: int = _setting(0, at_least=0)
    no_repeat_ngrams: int = _setting(0, at_least=0)
    nbest: int | None = _setting(None, at_least=1)
    samples: int = _setting(0, at_least=0)
    temperature: float = _setting(1.0, above=0)
    top_k: int = _setting(0, at_least=0)
    top_p: float = _setting(1.0, above=0, at_most=1)

    @property
    def answers(self) -> int:
        """How many answers `nbest` gives."""
        return self.nbest or min(5, self.beam)

    @property
    def limits(self) -> dict[str, Any]:
        """What any way of searching holds to."""
        return {
            "max_length": self.max_length,
            "min_length": self.min_length,
            "no_repeat_ngrams": self.no_repeat_ngrams,
        }
