"""Names that a recipe gives: what must be known before its kinds can be asked anything."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pairloom.components.metrics.registry import metric_ids, missing_package
from pairloom.components.pairs.formats import FORMATS
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.recipe.schema import Recipe

__all__ = ["ATTENDING", "NAME", "RESERVED", "Broken", "broken_names"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
ATTENDING = ("attention", "both")
"""The values of a recurrent decoder's `context` with which it looks at places."""
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# What the SavedModel's signatures and the evaluation call their own inputs and outputs.
RESERVED = (
    "activations",
    "attention",
    "beginning",
    "correct",
    "cut",
    "examples",
    "labels",
    "length_bucket",
    "links_found",
    "links_given",
    "log_probability",
    "probabilities",
    "score",
    "seed",
    "source_tokens",
    "target_tokens",
    "token_scores",
    "tokens",
)
# A field's name with one of these behind it is an output, or what Transform makes of the field.
_SUFFIXES = ("_length", "_lengths", "_tokens", "_given")
_DEVICES = re.compile(r"auto|one|cpu:[1-9][0-9]*")


class Broken(NamedTuple):
    """A rule that does not hold: the key to look at, and RecipeError's other arguments."""

    key: str
    expected: str
    received: str
    nearest: str = ""


def broken_names(recipe: Recipe) -> Iterator[Broken]:
    """Names that cannot be, or that are nobody's, in the order of the recipe's sections."""
    if not NAME.fullmatch(recipe.name):
        yield Broken("name", "letters, digits, - _ . beginning with a letter or digit", recipe.name)
    if not _DEVICES.fullmatch(recipe.training.devices):
        yield Broken("training.devices", "auto, one, or cpu:N", recipe.training.devices)
    yield from _registered(recipe)
    yield from _fields(recipe)
    yield from _inputs(recipe)


def _registered(recipe: Recipe) -> Iterator[Broken]:
    """What must be the name of something that the components have."""
    evaluation = recipe.evaluation
    watched = recipe.training.early_stopping.metric
    named = [
        ("data.format", recipe.data.format, sorted(FORMATS)),
        ("training.early_stopping.metric", watched, ("loss", *metric_ids())),
        *((f"evaluation.metrics.{n}", m, metric_ids()) for n, m in evaluation.metrics.items()),
    ]
    for key, name, known in named:
        if name not in known:
            yield Broken(key, " or ".join(known), name, nearest_name(name, known))
        elif package := missing_package(name):
            expected = f"a metric that can be computed here; install it: pip install '{package}'"
            yield Broken(key, expected, name)


def _fields(recipe: Recipe) -> Iterator[Broken]:
    if not recipe.fields:
        yield Broken("fields", "at least one field", "none")
    for name in recipe.fields:
        if not _FIELD.fullmatch(name):
            yield Broken(f"fields.{name}", "a name of letters, digits and _", name)
        if name.endswith(_SUFFIXES):
            expected = f"a name that does not end in {' or '.join(_SUFFIXES)}"
            yield Broken(f"fields.{name}", expected, name)
        if name in RESERVED:
            expected = f"another name: the served model says {', '.join(RESERVED)} itself"
            yield Broken(f"fields.{name}", expected, name)
    if recipe.output not in recipe.fields:
        near = nearest_name(recipe.output, recipe.fields)
        yield Broken("output", f"one of the fields {', '.join(recipe.fields)}", recipe.output, near)
    told = recipe.training.supervised
    if told is not None and told.field not in recipe.fields:
        near = nearest_name(told.field, recipe.fields)
        expected = f"one of the fields {', '.join(recipe.fields)}"
        yield Broken("training.supervised.field", expected, told.field, near)
    split_by = recipe.data.split_by
    if split_by and split_by not in recipe.fields:
        near = nearest_name(split_by, recipe.fields)
        yield Broken("data.split_by", f"one of {', '.join(recipe.fields)}", split_by, near)


def _inputs(recipe: Recipe) -> Iterator[Broken]:
    inputs = recipe.reads
    for name in inputs:
        if name not in recipe.fields:
            near = nearest_name(name, recipe.fields)
            yield Broken("inputs", f"names of the fields {', '.join(recipe.fields)}", name, near)
        elif inputs.count(name) > 1:
            yield Broken("inputs", "each input once", f"{name} {inputs.count(name)} times")
