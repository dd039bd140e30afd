"""A commented recipe as text, from a look and a suggestion."""

import os
import re
from pathlib import Path
from typing import Any

from pairloom.pipeline.new_recipe.looking import FilesLook, TextLook
from pairloom.pipeline.new_recipe.suggesting import Suggestion, VocabularyChoice


def recipe_name(look: FilesLook) -> str:
    """A name made from the files' names: `train.en` and `train.de` give `train-en-de`."""
    names = [Path(file.name.removesuffix(".gz")) for file in look.files]
    stem = names[0].stem
    if len(names) == 2:
        same = names[0].stem == names[1].stem and names[0].suffix and names[1].suffix
        endings = f"{names[0].suffix[1:]}-{names[1].suffix[1:]}"
        stem = f"{stem}-{endings}" if same else f"{stem}-{names[1].stem}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._") or "pairs"


def recipe_text(look: FilesLook, suggestion: Suggestion, name: str, file: Path) -> str:
    """The whole recipe; `file` is where it will be, so that paths are relative to it."""
    return "\n".join(
        [
            f"# {name}: {look.pairs:,} rows. Written by `pairloom new` after a look at the files.",
            "#",
            f"#   pairloom run {_shell(file)}",
            f"#   pairloom serve {name}",
            "",
            f"name: {_yaml(name)}    # runs go to runs/{name}; the served model has this name",
            "",
            *_data(look, suggestion, file),
            "",
            *_fields(look, suggestion),
            "",
            *_model(suggestion),
            "",
            *_training(suggestion),
            "",
            *_ending(suggestion),
            "",
        ]
    )


def _data(look: FilesLook, suggestion: Suggestion, file: Path) -> list[str]:
    paths = [_yaml(_path_from(file, data_file)) for data_file in look.files]
    lines = ["data:", f"  format: {look.format}    # parallel, tsv, csv or jsonl"]
    if look.format == "parallel":
        lines.append(f"  train: {{source: {paths[0]}, target: {paths[1]}}}")
    else:
        lines.append(f"  train: {paths[0]}")
    if look.header:
        lines.append("  header: true    # the first line names the columns")
    elif look.format in ("tsv", "csv"):
        lines.append("  header: false    # true if the first line names the columns")
    if look.columns:
        source, target = map(_yaml, look.columns)
        there = ", ".join(look.column_names)
        lines.append(f"  columns: {{source: {source}, target: {target}}}    # there are: {there}")
    share = f"{suggestion.held_out:g}"
    held = max(1, round(look.pairs * suggestion.held_out))
    return [
        *lines,
        "  # Held out by a hash of the source; or give files of their own as `eval:` and `test:`.",
        f"  split: {{eval: {share}, test: {share}}}    # about {held:,} pairs each",
        "  max_rejected: 0.01    # fail if more than this share of the rows cannot be used",
    ]


def _path_from(recipe_file: Path, data_file: Path) -> str:
    """Relative to the recipe where the two are near each other, so that they can move together."""
    relative = os.path.relpath(data_file.resolve(), recipe_file.resolve().parent)
    return str(data_file.resolve()) if relative.startswith("../..") else relative


def _fields(look: FilesLook, suggestion: Suggestion) -> list[str]:
    shared = suggestion.source is suggestion.target
    names = ("joint", "joint") if shared else ("source", "target")
    lines = [
        "fields:",
        f"  source: {{kind: text, vocabulary: {names[0]}}}    # {_described(look.source)}",
        f"  target: {{kind: text, vocabulary: {names[1]}}}    # {_described(look.target)}",
        "output: target    # what the model writes",
        "",
        "vocabularies:    # method: bpe, unigram, characters or words",
    ]
    choices: dict[str, VocabularyChoice] = dict(zip(names, (suggestion.source, suggestion.target)))
    for name, choice in choices.items():
        settings = f"{{method: {choice.method}, size: {choice.size}}}"
        lines.append(f"  {name}: {settings}    # {choice.why}")
    return lines


def _model(suggestion: Suggestion) -> list[str]:
    shared = suggestion.source is suggestion.target
    size = f"units: {suggestion.units}, embedding: {suggestion.units}"
    return [
        "model:",
        f"  encoder: {{type: tokens, cell: gru, {size}, dropout: {suggestion.dropout}}}",
        f"  decoder: {{type: recurrent, cell: gru, {size}, dropout: {suggestion.dropout}, "
        "score: additive, style: luong, input_feeding: true}",
        f"  tied: {'output' if shared else 'none'}    # or all: which embeddings are shared",
    ]


def _training(suggestion: Suggestion) -> list[str]:
    return [
        "training:",
        f"  epochs: {suggestion.epochs}",
        "  minutes: 0    # stop after so many minutes; 0 is no limit",
        f"  batch_tokens: {suggestion.batch_tokens}",
        "  learning_rate: 0.002",
        f"  warmup_steps: {suggestion.warmup_steps}",
        "  early_stopping: {metric: loss, patience: 10}",
    ]


def _ending(suggestion: Suggestion) -> list[str]:
    metrics = ", ".join(f"{name}: {metric}" for name, metric in suggestion.metrics.items())
    first = next(iter(suggestion.metrics))
    buckets = ", ".join(map(str, suggestion.length_buckets))
    return [
        f"search: {{beam: 5, max_length: {suggestion.max_length}}}",
        "",
        "evaluation:",
        f"  metrics: {{{metrics}}}",
        "  # A model that misses a threshold is never pushed. Set one once you know more:",
        f"  # thresholds: {{{first}: {{at_least: 20}}}}",
        f"  compare: {first}    # nor is one worse than the last blessed model ...",
        "  tolerance: 0.5    # ... by more than this",
        f"  length_buckets: [{buckets}]    # scores by source length, in tokens",
    ]


def _described(text: TextLook) -> str:
    words = "1 word" if text.words[0] == 1 else f"{text.words[0]} words"
    script = "" if text.script == "NONE" else f"{text.script.lower()}, "
    return f"{script}usually {words}, {text.characters[0]} characters"


def _yaml(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    # YAML 1.1 reads these words as true, false or null.
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    if re.fullmatch(r"[A-Za-z_./][\w./-]*", value) and value.lower() not in words:
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'


def _shell(path: Path) -> str:
    import shlex

    return shlex.quote(str(path))
