"""How long a run will take, where files are read and the recipe limits its training."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pairloom.components.pairs.file_values import FileReader
from pairloom.kinds import FieldError, Kind
from pairloom.kinds.looking import spread
from pairloom.pipeline.new_recipe.files_look import FilesLook
from pairloom.pipeline.new_recipe.suggesting import Suggestion

__all__ = ["duration_told"]

_TIMED = 40
# A run reads a file, decodes what is good for the graph, and puts it back for training.
_TIMES_READ = 3
_LONGEST_PATH = 1000


@dataclass(frozen=True)
class _Reading:
    """Some files, read as a run would.

    Attributes:
        files: How many there are.
        timed: How many of them were read.
        seconds: For one.
        reasons: Why those that will not do are rejected.
    """

    files: int
    timed: int
    seconds: float
    reasons: Counter[str]


def duration_told(look: FilesLook, suggestion: Suggestion) -> list[str]:
    """Lines for people; none where nothing tells how long a run takes."""
    lines = []
    minutes = float(suggestion.training.get("minutes", 0))
    for name, folder in look.folders.items():
        kind = suggestion.judged[name].kind
        options = {**suggestion.advice[name].options, "folder": str(folder)}
        read = _read(kind, look.values[name], look, folder, options)
        wait = read.files * read.seconds * _TIMES_READ / 60
        lines.append(
            f"A run takes about {_shown(minutes + wait)}: {_shown(minutes)} of training at most "
            f"(`training.minutes`), {_shown(wait)} to read and decode {read.files:,} files "
            f"({1000 * read.seconds:.0f} ms each, timed on {read.timed}), and what the other steps "
            "need."
        )
        lines += [
            f"{count} of {read.timed} files looked at will be rejected: {reason}."
            for reason, count in read.reasons.most_common(3)
        ]
    return lines


def _read(
    kind: Kind, paths: Sequence[str], look: FilesLook, folder: Path, options: dict[str, Any]
) -> _Reading:
    distinct = list(dict.fromkeys(paths))
    few = spread(distinct, _TIMED)
    usual = {one.name: one.default for one in fields(kind.Options)}
    reader = FileReader(kind, str(folder.resolve()))
    reasons: Counter[str] = Counter()
    start = time.perf_counter()
    for path in few:
        try:
            reader(path, {**usual, **options}, _LONGEST_PATH)
        except FieldError as error:
            reasons[str(error)] += 1
    seconds = (time.perf_counter() - start) / len(few)
    # Of many rows only some were looked at, which share files as all do.
    files = round(len(distinct) * look.pairs / look.looked_at)
    return _Reading(max(files, len(distinct)), len(few), seconds, reasons)


def _shown(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
