"""Asks every kind whether the values of a field look like its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pairloom.kinds import Kind, find_kind, kind_names
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe.parts import decoders, encoders

__all__ = ["Judged", "best_input", "best_output", "is_output_only", "looks_like_something"]


@dataclass(frozen=True)
class Judged:
    """What the values of a field are thought to be.

    Attributes:
        kind: The kind that they fit best.
        score: How well, from 0 to 1.
        why: In a few words.
    """

    kind: Kind
    score: float
    why: str


def best_input(name: str, values: Sequence[Any], written: str) -> Judged:
    """The kind that a field fits best which is read; `written`: what form the output is written in.

    Raises:
        UserError: it fits none that there is an encoder for.
    """
    return _best(name, values, _asked(values, written, reading=True))


def best_output(name: str, values: Sequence[Any]) -> Judged:
    """The kind that a field fits best which is written.

    Raises:
        UserError: it fits none that there is a decoder for.
    """
    return _best(name, values, _asked(values, reading=False))


def is_output_only(values: Sequence[Any]) -> bool:
    """Whether values fit best what can be written and that nothing reads."""
    best = max(_asked(values, reading=False), key=lambda one: one.score)
    return best.score > 0 and best.kind.form not in _forms(reading=True)


def looks_like_something(values: Sequence[Any]) -> bool:
    """Whether values fit any kind at all."""
    return any(one.score > 0 for way in (True, False) for one in _asked(values, reading=way))


def _asked(values: Sequence[Any], written: str = "", *, reading: bool) -> list[Judged]:
    judged = []
    for kind in _kinds(reading):
        score, why = kind.part("looking").fits(values, written)
        judged.append(Judged(kind, score, why))
    return judged


def _kinds(reading: bool) -> Iterator[Kind]:
    for kind in map(find_kind, kind_names()):
        form = kind.form if reading else kind.written
        if form in _forms(reading) and kind.has("looking"):
            yield kind


def _forms(reading: bool) -> set[str]:
    return {part.form for part in (encoders() if reading else decoders()).values()}


def _best(name: str, values: Sequence[Any], judged: Sequence[Judged]) -> Judged:
    best = max(judged, key=lambda one: one.score)
    if best.score > 0:
        return best
    reasons = "; ".join(f"no {one.kind.name}: {one.why}" for one in judged)
    raise UserError(
        f"Expected {name} of a kind that there is. Received: {str(values[0])[:60]!r} and the like "
        f"({reasons})."
    )
