"""What a recipe leaves to its kinds: encoders, decoder, vocabularies, search and metrics."""

import dataclasses
from typing import Any

from pairloom.kinds import DEFAULT, find_kind
from pairloom.kinds.kind import Kind
from pairloom.pipeline.recipe.building import Open, build, choose
from pairloom.pipeline.recipe.document import Document, Key
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.recipe.parts import PartInfo, decoders, encoders, joins
from pairloom.pipeline.recipe.schema import Model, Recipe

__all__ = ["filled", "kinds_of", "with_names"]


def with_names(recipe: Recipe) -> Recipe:
    """A recipe whose fields all say their kind, and which says its inputs."""
    fields = {
        name: dataclasses.replace(settings, kind=settings.kind or DEFAULT)
        for name, settings in recipe.fields.items()
    }
    inputs = recipe.inputs
    if inputs is None:
        inputs = tuple(name for name in fields if name != recipe.output)
    return dataclasses.replace(recipe, fields=fields, inputs=inputs)


def kinds_of(recipe: Recipe) -> dict[str, Kind]:
    """Field to its kind."""
    return {name: find_kind(settings.kind) for name, settings in recipe.fields.items()}


def filled(recipe: Recipe, document: Document) -> Recipe:
    """A recipe of `with_names`, whose names are right, without gaps.

    Raises:
        RecipeError: a vocabulary or the search says what its kind does not know, or nothing fits.
    """
    kinds = kinds_of(recipe)
    evaluation = recipe.evaluation
    if not evaluation.metrics:
        shown = kinds[recipe.output].shown if recipe.inputs else ("perplexity",)
        evaluation = dataclasses.replace(evaluation, metrics={name: name for name in shown})
    if not kinds[(*recipe.reads, recipe.output)[0]].measured:
        evaluation = dataclasses.replace(evaluation, length_buckets=())
    fields = {}
    for name, settings in recipe.fields.items():
        if hasattr(settings, "vocabulary"):
            settings = dataclasses.replace(settings, vocabulary=recipe.vocabulary_of(name))
        fields[name] = _with_paths(name, settings, document)
    return dataclasses.replace(
        recipe,
        fields=fields,
        vocabularies=_vocabularies(recipe, kinds, document),
        search=_search(recipe, kinds, document),
        model=_model(recipe, kinds, document),
        evaluation=evaluation,
    )


def _with_paths(name: str, settings: Any, document: Document) -> Any:
    """A field's settings, those that are paths made absolute."""
    paths = {
        spec.name: document.absolute(getattr(settings, spec.name), ("fields", name, spec.name))
        for spec in dataclasses.fields(settings)
        if spec.metadata.get("path") and getattr(settings, spec.name)
    }
    return dataclasses.replace(settings, **paths)


def _vocabularies(recipe: Recipe, kinds: dict[str, Kind], document: Document) -> dict[str, Any]:
    used: dict[str, type] = {}
    listed = recipe.vocabularies
    learned: dict[str, tuple[str, Any]] = {}
    for name, kind in kinds.items():
        named = recipe.vocabulary_of(name)
        other, learning = learned.setdefault(named, (name, kind.Learning))
        if learning is not kind.Learning:
            asking = name if named != name else other
            received = f"{named}, which is another field of another kind"
            raise document.error(("fields", asking, "vocabulary"), "another name", received)
        if kind.Learning is None:
            continue
        # One that a field has by its own name need not be listed; one that it asks for is a typo.
        if listed and named not in (name, *listed):
            expected = f"one of the vocabularies {', '.join(listed)}"
            near = nearest_name(named, listed)
            raise document.error(("fields", name, "vocabulary"), expected, named, near)
        used.setdefault(named, kind.Learning)
    for name in listed:
        if name not in used:
            near = nearest_name(name, used)
            expected = f"a vocabulary that a field uses ({', '.join(sorted(used)) or 'none'})"
            received = f"{name}, which no field uses"
            raise document.error(("vocabularies", name), expected, received, near)
    return {
        name: build(cls, listed.get(name), document, ("vocabularies", name))
        for name, cls in used.items()
    }


def _search(recipe: Recipe, kinds: dict[str, Kind], document: Document) -> Any:
    writing = kinds[recipe.output].Writing
    if writing is None:
        if recipe.search is not None:
            kind = kinds[recipe.output].name
            expected = f"nothing: the output `{recipe.output}`, {kind}, is not searched for"
            raise document.error(("search",), expected, "settings of a search")
        return None
    return build(writing, recipe.search, document, ("search",))


def _model(recipe: Recipe, kinds: dict[str, Kind], document: Document) -> Model:
    model, inputs = recipe.model, recipe.reads
    for name in model.encoders:
        if name not in inputs:
            near = nearest_name(name, inputs)
            expected = f"one of the inputs {', '.join(inputs) or '(there are none)'}"
            raise document.error(("model", "encoders", name), expected, name, near)
    key: Key = ("model", "encoder")
    shared = model.encoder
    chosen = {}
    for name in inputs:
        own = name in model.encoders
        part = model.encoders[name] if own else shared
        place = ("model", "encoders", name) if own else key
        chosen[name] = _fitting(part, encoders(), kinds[name].form, document, place)
    if shared is not None and set(inputs) <= set(model.encoders):
        # Nothing needs it, and yet what it says must be right.
        _fitting(shared, encoders(), next(iter(encoders().values())).form, document, key)
    written = kinds[recipe.output].written
    decoder = _fitting(model.decoder, decoders(), written, document, ("model", "decoder"))
    join = model.join
    if join is not None:
        join = _fitting(join, joins(), "", document, ("model", "join"))
    return dataclasses.replace(model, encoder=None, encoders=chosen, join=join, decoder=decoder)


def _fitting(part: Any, parts: dict[str, PartInfo], form: str, document: Document, key: Key) -> Any:
    """A part as the recipe says; where it names none, the first of that form, or None."""
    if part is not None and not isinstance(part, Open):
        return part
    known = {name: info.Options for name, info in parts.items()}
    first = next((name for name, info in parts.items() if info.form == form), None)
    values = part.values if part is not None else None
    return choose("type", first, known, values, document, key) if first else None
