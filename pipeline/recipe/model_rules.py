"""What must fit in a model: forms, widths, tables and joins."""

from collections.abc import Iterator, Sequence
from typing import Any

from pairloom.pipeline.recipe.filling import kinds_of
from pairloom.pipeline.recipe.names import ATTENDING, Broken
from pairloom.pipeline.recipe.parts import PartInfo, decoders, encoders, joins
from pairloom.pipeline.recipe.schema import Recipe

__all__ = ["broken_model"]


def broken_model(recipe: Recipe) -> Iterator[Broken]:
    """Everything about a recipe's model that cannot be."""
    wrong = list(_forms(recipe)) or list(_join(recipe))
    yield from wrong
    if wrong:
        return
    model = recipe.model
    decoder: Any = model.decoder
    for name, encoder in model.encoders.items():
        key = "model.encoder" if len(model.encoders) == 1 else f"model.encoders.{name}"
        yield from _misfits(recipe, name, encoder)
        yield from _encoder(key, encoder)
        yield from _heads(key, encoder)
    if recipe.output not in model.encoders:
        yield from _misfits(recipe, recipe.output, decoder)
    yield from _heads("model.decoder", decoder)
    yield from _tied(recipe)
    yield from _context(recipe)


def _forms(recipe: Recipe) -> Iterator[Broken]:
    """Encoders read what their inputs are, the decoder writes what the output is."""
    kinds, model = kinds_of(recipe), recipe.model
    for name, encoder in model.encoders.items():
        key = "model.encoder" if len(model.encoders) == 1 else f"model.encoders.{name}"
        yield from _form(f"{key}.type", encoder, encoders(), kinds[name].form, f"input `{name}`")
    output = kinds[recipe.output]
    if not output.written:
        written = "a kind that can be written"
        yield Broken(f"fields.{recipe.output}.kind", written, output.name)
        return
    what = f"output `{recipe.output}`"
    yield from _form("model.decoder.type", model.decoder, decoders(), output.written, what)


def _misfits(recipe: Recipe, name: str, part: Any) -> Iterator[Broken]:
    settings = recipe.fields[name]
    if wrong := kinds_of(recipe)[name].misfit(dict(vars(settings)), dict(vars(part))):
        yield Broken(f"fields.{name}", "settings that fit its encoder or decoder", wrong)


def _form(
    key: str, part: Any, known: dict[str, PartInfo], form: str, what: str
) -> Iterator[Broken]:
    fitting = [name for name, info in known.items() if info.form == form]
    if part is None or part.type not in fitting:
        expected = f"{' or '.join(fitting) or 'nothing there is'}, for the {what} is {form}"
        yield Broken(key, expected, part.type if part else "none")


def _join(recipe: Recipe) -> Iterator[Broken]:
    inputs, join = recipe.reads, recipe.model.join
    if len(inputs) > 1 and join is None:
        received = f"none, with {_counted(inputs)}"
        yield Broken("model.join", f"{' or '.join(joins())}, for several inputs", received)
    if len(inputs) < 2 and join is not None:
        received = f"{join.type}, with {_counted(inputs)}"
        yield Broken("model.join", "nothing: there is nothing to join", received)
    asks = getattr(join, "asks", None)
    if asks is not None and (asks not in inputs or len(inputs) != 2):
        expected = "one of two inputs, which asks while the other is looked at"
        yield Broken("model.join.asks", expected, f"{asks}, with {_counted(inputs)}")


def _counted(inputs: Sequence[str]) -> str:
    if not inputs:
        return "no input"
    return f"the input{'s' if len(inputs) > 1 else ''} {', '.join(inputs)}"


def _encoder(key: str, encoder: Any) -> Iterator[Broken]:
    two_ways = getattr(encoder, "bidirectional", False)
    cell = getattr(encoder, "cell", None)
    if two_ways and cell and encoder.units % 2:
        expected = "an even number, for each direction of a bidirectional encoder has half of it"
        yield Broken(f"{key}.units", expected, str(encoder.units))
    if cell == "lstmn" and two_ways:
        yield Broken(f"{key}.bidirectional", "false: an lstmn reads forwards only", "true")
    if getattr(encoder, "backwards", False) and (two_ways or cell == "lstmn"):
        received = "true with `bidirectional: true`" if two_ways else "true with lstmn"
        yield Broken(f"{key}.backwards", "false, or `bidirectional: false`", received)


def _heads(key: str, part: Any) -> Iterator[Broken]:
    if part.type == "transformer" and part.units % part.heads:
        expected = f"a multiple of `heads`, {part.heads}, for each head has an equal part of it"
        yield Broken(f"{key}.units", expected, str(part.units))


def _embedding(part: Any) -> int:
    """The width of an embedding, which is all of a Transformer's."""
    return getattr(part, "embedding_units", None) or part.units


def _tied(recipe: Recipe) -> Iterator[Broken]:
    """What one table for several fields needs."""
    model = recipe.model
    decoder: Any = model.decoder
    if model.tied == "none":
        return
    if not hasattr(decoder, "embedding_units") and decoder.type != "transformer":
        yield Broken("model.tied", "`none`: the decoder has no embeddings", model.tied)
        return
    if model.tied != "all":
        return
    if not model.encoders:
        yield Broken("model.tied", "`output` or `none`: there are no inputs", "all")
        return
    names = [*recipe.reads, recipe.output]
    vocabularies = sorted({recipe.vocabulary_of(name) for name in names})
    if len(vocabularies) > 1:
        yield Broken(
            "model.tied",
            "`output` or `none`, or one vocabulary that all fields share",
            f"all, with the separate vocabularies {', '.join(vocabularies)}",
        )
    sizes = [_embedding(part) for part in (*model.encoders.values(), model.decoder)]
    if len(set(sizes)) > 1:
        yield Broken(
            "model.tied",
            "equal embedding sizes of encoder and decoder (a transformer's: its units) for `all`",
            f"encoder {', '.join(map(str, sizes[:-1]))}, decoder {sizes[-1]}",
        )


def _context(recipe: Recipe) -> Iterator[Broken]:
    """What a decoder looks at must be there, and fit."""
    model = recipe.model
    decoder: Any = model.decoder
    context = getattr(decoder, "context", None)
    asks = getattr(model.join, "asks", None)
    if decoder.type == "classes" and context == "attention" and not asks:
        expected = "summary or pooling, or a `join` of the type query: somebody must ask"
        yield Broken("model.decoder.context", expected, "attention")
    if decoder.type != "recurrent":
        return
    if context in ATTENDING:
        if not model.encoders:
            yield Broken("model.decoder.context", "state: there is no input to look at", context)
        for encoder in model.encoders.values():
            yield from _attention(encoder, decoder)
    elif model.tied != "none" and decoder.units != decoder.embedding_units:
        yield Broken(
            "model.tied",
            "`none`, `context: attention`, or decoder units equal to its embedding_units",
            f"{model.tied} with `context: {context}`, "
            f"units {decoder.units}, embedding_units {decoder.embedding_units}",
        )


def _attention(encoder: Any, decoder: Any) -> Iterator[Broken]:
    if decoder.mode == "multi_head":
        if decoder.units % decoder.heads:
            expected = f"a multiple of `heads`, {decoder.heads}, for `mode: multi_head`"
            yield Broken("model.decoder.units", expected, str(decoder.units))
    elif decoder.score in ("cosine", "dot") and encoder.units != decoder.units:
        yield Broken(
            "model.decoder.score",
            "`general` or another with weights, or equal units of encoder and decoder",
            f"{decoder.score} between {encoder.units} and {decoder.units} units",
        )
