"""What a field of links needs: a text that is read, one that is written, and attention."""

from collections.abc import Iterator
from typing import Any

from pairloom.components.metrics.registry import metric_takes
from pairloom.pipeline.recipe.filling import kinds_of
from pairloom.pipeline.recipe.names import ATTENDING, Broken
from pairloom.pipeline.recipe.schema import Recipe

__all__ = ["alignments", "broken_alignment"]

_LINKS = "alignment"
_DRAWING = ("hard", "straight_through")


def alignments(recipe: Recipe) -> list[str]:
    """The fields that link words of the input with words of the output."""
    return [name for name, kind in kinds_of(recipe).items() if kind.form == _LINKS]


def broken_alignment(recipe: Recipe) -> Iterator[Broken]:
    """Everything about a recipe's links, and what asks for them, that cannot be."""
    told, found = recipe.training.supervised, alignments(recipe)
    if told is not None and told.field not in found:
        kind = kinds_of(recipe)[told.field].name
        expected = f"a field of links between words ({', '.join(found) or 'there is none'})"
        yield Broken("training.supervised.field", expected, f"{told.field}, of the kind {kind}")
    asking = dict(_asking(recipe))
    for key, what in asking.items():
        if len(found) != 1:
            expected = "one field of links between words to compare the attention with"
            received = (
                f"{what} with the fields {', '.join(found)}" if found else f"{what}, no field"
            )
            yield Broken(key, expected, received)
    for name in found:
        yield from _placed(recipe, name)
    if told is not None and told.weight:
        asking["training.supervised"] = "supervised attention"
    for key, what in asking.items():
        yield from _attends(recipe, key, what)


def _asking(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """The keys that name a metric of links, and that metric."""
    for name, metric in recipe.evaluation.metrics.items():
        if metric_takes(metric) == _LINKS:
            yield f"evaluation.metrics.{name}", metric


def _placed(recipe: Recipe, name: str) -> Iterator[Broken]:
    kinds, inputs = kinds_of(recipe), recipe.reads
    others = [other for other in inputs if other != name]
    if name in inputs:
        expected = f"the inputs without `{name}`, which only links words of the others"
        yield Broken("inputs", expected, ", ".join(inputs))
    if len(others) != 1 or not all(kinds[one].worded for one in (*others, recipe.output)):
        expected = "one input and an output of texts, whose words links can link"
        received = ", ".join(f"{one} ({kinds[one].name})" for one in (*others, recipe.output))
        yield Broken(f"fields.{name}", expected, received)


def _attends(recipe: Recipe, key: str, what: str) -> Iterator[Broken]:
    decoder: Any = recipe.model.decoder
    context = getattr(decoder, "context", ATTENDING[0])
    if context not in ATTENDING:
        yield Broken(key, "a decoder with `context: attention`", f"{what}, `context: {context}`")
    elif key.startswith("training") and getattr(decoder, "mode", "") in _DRAWING:
        expected = "a `mode` whose weights are shares; one that draws has none to compare"
        yield Broken(key, expected, f"{what}, `mode: {decoder.mode}`")
    if key.startswith("evaluation") and recipe.evaluation.references:
        expected = "a metric of answers: links are those of one reference"
        yield Broken(key, expected, f"{what}, with `references: true`")
