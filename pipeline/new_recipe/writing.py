"""A commented recipe as text, from a look and a suggestion."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairloom.kinds import DEFAULT
from pairloom.pipeline.new_recipe.files_look import FilesLook
from pairloom.pipeline.new_recipe.suggesting import Suggestion

__all__ = ["reasons", "recipe_name", "recipe_text"]

# What a row may have without a word in the recipe.
_MAX_LENGTH = 2000


def recipe_name(look: FilesLook) -> str:
    """A name made from the files' names: `train.en` and `train.de` give `train-en-de`."""
    names = [Path(file.name.removesuffix(".gz")) for file in look.files]
    stem = names[0].stem
    if len(names) == 2:
        same = names[0].stem == names[1].stem and names[0].suffix and names[1].suffix
        endings = f"{names[0].suffix[1:]}-{names[1].suffix[1:]}"
        stem = f"{stem}-{endings}" if same else f"{stem}-{names[1].stem}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._") or "pairs"


def reasons(look: FilesLook, suggestion: Suggestion) -> list[str]:
    """Why the fields are thought to be what they are, a line each."""
    lines = [f"{look.format}: {look.why}"] if look.why else []
    for name, judged in suggestion.judged.items():
        lines.append(f"{name} is {judged.kind.name}: {judged.why}")
    return lines


def recipe_text(look: FilesLook, suggestion: Suggestion, name: str, file: Path) -> str:
    """The whole recipe; `file` is where it will be, so that paths are relative to it."""
    return "\n".join(
        [
            f"# {name}: {look.told}.",
            "# Written by `pairloom new`.",
            *_why(look, suggestion),
            "#",
            f"#   pairloom run {shlex.quote(str(file))}",
            f"#   pairloom serve {name}",
            "",
            f"name: {_yaml(name)}    # runs go to runs/{name}; the served model has this name",
            "",
            *_data(look, suggestion, file),
            "",
            *_fields(look, suggestion, file),
            "",
            *_model(look, suggestion),
            "",
            *_training(look, suggestion),
            "",
            *_ending(look, suggestion),
            "",
        ]
    )


def _why(look: FilesLook, suggestion: Suggestion) -> list[str]:
    """Nothing where all is as it is by default."""
    usual = all(one.kind.name == DEFAULT for one in suggestion.judged.values())
    if usual and look.inputs:
        return []
    told = (f"#   {reason}" for reason in reasons(look, suggestion))
    return ["#", "# What it is thought to be, and why (wrong? say another `kind` below):", *told]


def _data(look: FilesLook, suggestion: Suggestion, file: Path) -> list[str]:
    paths = [_yaml(_path_from(file, data_file)) for data_file in look.files]
    table = look.format in ("tsv", "csv")
    others = "parallel, tsv, csv or jsonl" if not look.why else look.why
    lines = ["data:", f"  format: {look.format}    # {others}"]
    if look.format == "parallel":
        lines.append(f"  train: {{source: {paths[0]}, target: {paths[1]}}}")
    else:
        lines.append(f"  train: {paths[0]}")
    if look.header:
        lines.append("  header: true    # the first line names the columns")
    elif table:
        lines.append("  header: false    # true if the first line names the columns")
    if look.columns:
        there = ", ".join(look.column_names)
        columns = _mapping(dict(zip(look.values, look.columns)))
        lines.append(f"  columns: {columns}    # there are: {there}")
    if look.doubt:
        lines.append(f"  # Not certain: {look.doubt}.")
    if look.options:
        lines.append(f"  options: {_mapping(look.options)}    # the format's own")
    longest = max(one.longest for one in suggestion.advice.values())
    if longest > _MAX_LENGTH:
        # Room for somewhat longer ones than those that were looked at.
        limit = -(-longest * 3 // 2 // 1000) * 1000
        lines.append(f"  max_length: {limit}    # characters; longer rows are rejected")
    share = f"{suggestion.held_out:g}"
    held = max(1, round(look.pairs * suggestion.held_out))
    return [
        *lines,
        f"  # Held out {_held_out_by(look)}; or give files of their own as `eval:` and `test:`.",
        f"  split: {{eval: {share}, test: {share}}}    # about {held:,} pairs each",
        "  max_rejected: 0.01    # fail if more than this share of the rows cannot be used",
    ]


def _held_out_by(look: FilesLook) -> str:
    return f"by a hash of the {look.inputs[0]}" if look.inputs else "from the end of the file"


def _path_from(recipe_file: Path, data_file: Path) -> str:
    """Relative to the recipe where the two are near each other, so that they can move together."""
    relative = os.path.relpath(data_file.resolve(), recipe_file.resolve().parent)
    return str(data_file.resolve()) if relative.startswith("../..") else relative


def _fields(look: FilesLook, suggestion: Suggestion, file: Path) -> list[str]:
    lines = ["fields:"]
    for name, judged in suggestion.judged.items():
        advice = suggestion.advice[name]
        settings = {"kind": judged.kind.name}
        if name in suggestion.vocabulary_of:
            settings["vocabulary"] = suggestion.vocabulary_of[name]
        if name in look.folders:
            settings["folder"] = _path_from(file, look.folders[name])
        settings.update(advice.options)
        lines.append(f"  {name}: {_mapping(settings)}    # {advice.described}")
    if look.output in look.inputs:
        lines.append(f"inputs: [{look.output}]    # what it reads ...")
        lines.append(f"output: {look.output}    # ... and learns to write again")
        return lines
    if not look.inputs:
        lines.append("inputs: []    # nothing is read: it goes on from a beginning")
    lines.append(f"output: {look.output}    # what the model writes")
    if suggestion.vocabularies:
        lines += ["", "vocabularies:    # method: bpe, unigram, characters or words"]
    for name, vocabulary in suggestion.vocabularies.items():
        lines.append(f"  {name}: {_mapping(vocabulary.settings)}    # {vocabulary.why}")
    return lines


def _model(look: FilesLook, suggestion: Suggestion) -> list[str]:
    encoders = {name: _mapping(suggestion.advice[name].encoder) for name in look.inputs}
    lines = ["model:"]
    if len(encoders) > 1:
        lines.append("  encoders:")
        lines += [f"    {name}: {encoder}" for name, encoder in encoders.items()]
        lines.append(f"  join: {_mapping(suggestion.join)}    # how they become one")
    else:
        lines += [f"  encoder: {encoder}" for encoder in encoders.values()]
    lines.append(f"  decoder: {_mapping(suggestion.decoder)}")
    if look.inputs and suggestion.advice[look.output].vocabulary:
        tied = "output" if suggestion.shared else "none"
        lines.append(f"  tied: {tied}    # or all: which embeddings are shared")
    return lines


def _training(look: FilesLook, suggestion: Suggestion) -> list[str]:
    more = dict(suggestion.training)
    minutes = more.pop("minutes", 0)
    return [
        "training:",
        f"  epochs: {suggestion.epochs}",
        f"  minutes: {minutes}    # stop after so many minutes; 0 is no limit",
        f"  batch_tokens: {suggestion.batch_tokens}",
        "  learning_rate: 0.002",
        f"  warmup_steps: {suggestion.warmup_steps}",
        *(f"  {name}: {_yaml(value)}" for name, value in more.items()),
        "  early_stopping: {metric: loss, patience: 10}",
    ]


def _ending(look: FilesLook, suggestion: Suggestion) -> list[str]:
    output = suggestion.advice[look.output]
    first = next(iter(output.metrics))
    lines = [f"search: {_mapping(output.search)}", ""] if output.search else []
    lines += [
        "evaluation:",
        f"  metrics: {_mapping(output.metrics)}",
        "  # A model that misses a threshold is never pushed. Set one once you know more:",
        f"  # thresholds: {{{first}: {{{output.threshold}}}}}",
        f"  compare: {first}    # nor is one worse than the last blessed model ...",
        f"  tolerance: {output.tolerance:g}    # ... by more than this",
    ]
    if look.references and suggestion.judged[look.output].kind.metrics == "text":
        lines.append("  references: true    # rows of one input are its several right answers")
    source = suggestion.advice[look.inputs[0]] if look.inputs else None
    if source is None or not source.buckets:
        return [*lines, "  length_buckets: []    # all rows alike"]
    buckets = ", ".join(map(str, source.buckets))
    told = f"scores by {look.inputs[0]} length, in {source.counted}"
    return [*lines, f"  length_buckets: [{buckets}]    # {told}"]


def _mapping(settings: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_yaml(value)}" for name, value in settings.items()) + "}"


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_yaml, value))}]"
    # YAML 1.1 reads these words as true, false or null.
    words = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    if re.fullmatch(r"[A-Za-z_./][\w./-]*", value) and value.lower() not in words:
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'
