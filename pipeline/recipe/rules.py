"""Combinations that no single key can rule out. Each rule yields what it found wrong."""

from collections.abc import Iterator

from pairloom.components.metrics.registry import metric_takes
from pairloom.components.pairs.formats import FORMATS
from pairloom.components.pairs.formats.options import wrong_options
from pairloom.pipeline.recipe.alignment_rules import broken_alignment
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.recipe.filling import kinds_of
from pairloom.pipeline.recipe.model_rules import broken_model
from pairloom.pipeline.recipe.names import NAME, Broken
from pairloom.pipeline.recipe.schedule_rules import broken_schedule
from pairloom.pipeline.recipe.schema import Files, Recipe


def broken_rules(recipe: Recipe) -> Iterator[Broken]:
    """Everything about a recipe whose names are right that cannot be, by its sections."""
    yield from _files(recipe)
    yield from _joined(recipe)
    yield from _columns(recipe)
    yield from _options(recipe)
    yield from broken_alignment(recipe)
    yield from broken_model(recipe)
    yield from _search(recipe)
    yield from _evaluation(recipe)
    yield from broken_schedule(recipe)


def _joined(recipe: Recipe) -> Iterator[Broken]:
    if recipe.data.joined > 1:
        for name, kind in kinds_of(recipe).items():
            if not kind.joinable:
                expected = f"1: rows of `{name}`, {kind.name}, cannot be joined"
                yield Broken("data.joined", expected, str(recipe.data.joined))


def _files(recipe: Recipe) -> Iterator[Broken]:
    data = recipe.data
    if data.train is None and FORMATS[data.format].needs_files:
        yield Broken("data.train", "the files with the training pairs", "nothing")
    for split in ("train", "eval", "test"):
        yield from _split_files(recipe, split, getattr(data, split))
    shares = sum(
        getattr(data.split, split) for split in ("eval", "test") if getattr(data, split) is None
    )
    if shares >= 1:
        yield Broken("data.split", "shares that leave something to train on", f"{shares:g} in all")
    for split in ("eval", "test"):
        if data.fold is not None and getattr(data.fold, split):
            continue
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
    if data.columns and data.format not in ("tsv", "csv", "json", "jsonl"):
        yield Broken("data.columns", f"nothing: {data.format} has no columns", "columns")
        return
    taken: list[int | str] = []
    for name, stated in data.columns.items():
        key = f"data.columns.{name}"
        if name not in recipe.fields:
            near = nearest_name(name, recipe.fields)
            yield Broken(key, f"one of the fields {', '.join(recipe.fields)}", name, near)
        columns = stated if isinstance(stated, tuple) else (stated,)
        if not columns:
            yield Broken(key, "a column, or several", "none")
        for column in columns:
            if data.format in ("json", "jsonl"):
                if isinstance(column, int):
                    yield Broken(key, "a JSON key", str(column))
            elif isinstance(column, str) and not data.header:
                yield Broken(key, "a position from 0 (names need `header: true`)", column)
            elif isinstance(column, int) and column < 0:
                yield Broken(key, "a position from 0", str(column))
        taken += columns
    missing = [name for name in recipe.fields if name not in data.columns]
    if data.columns and missing:
        yield Broken("data.columns", "a column for each field", f"none for {', '.join(missing)}")
    if len(set(taken)) < len(taken):
        yield Broken("data.columns", "a column of its own for each field", repr(data.columns))


def _options(recipe: Recipe) -> Iterator[Broken]:
    data = recipe.data
    if data.format not in FORMATS:
        return
    known = FORMATS[data.format].options
    for name, expected, received in wrong_options(data.format, known, data.options):
        near = "" if name in known else nearest_name(name, known)
        yield Broken(f"data.options.{name}", expected, received, near)


def _search(recipe: Recipe) -> Iterator[Broken]:
    """Of a search with a beam; what else a kind may say of its writing has no such rules."""
    search = recipe.search
    if not hasattr(search, "beam"):
        return
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
        if not NAME.fullmatch(name):
            yield Broken(f"evaluation.metrics.{name}", "a name of letters, digits, - _ .", name)
    yield from _fitting_metrics(recipe)
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


def _fitting_metrics(recipe: Recipe) -> Iterator[Broken]:
    """Metrics take what the output is made of, or its likelihood."""
    kind = kinds_of(recipe)[recipe.output]
    watched = recipe.training.early_stopping.metric
    asked = {f"evaluation.metrics.{name}": m for name, m in recipe.evaluation.metrics.items()}
    if watched != "loss":
        asked["training.early_stopping.metric"] = watched
    for key, metric in asked.items():
        takes = metric_takes(metric)
        if takes == "alignment" and key.startswith("eval"):
            continue  # It takes no answers, and has rules of its own.
        if takes == "likelihood" and recipe.evaluation.references and key.startswith("eval"):
            expected = "a metric of answers: of several references none has the likelihood"
            yield Broken(key, expected, f"{metric}, with `references: true`")
        elif takes not in (kind.metrics, "likelihood" if kind.judged else ""):
            expected = f"a metric of what the output `{recipe.output}` is, {kind.metrics or 'none'}"
            yield Broken(key, expected, f"{metric}, which takes {takes}")
        elif not recipe.inputs and takes != "likelihood":
            expected = "a metric of likelihood, as perplexity: without inputs nothing is answered"
            yield Broken(key, expected, metric)
