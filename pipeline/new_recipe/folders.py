"""Looks at a folder of files and a table of what is said about them."""

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairloom.kinds import Kind, find_kind, kind_names
from pairloom.kinds.looking import spread
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import JUDGED, Wanted, choose_columns
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete
from pairloom.pipeline.new_recipe.sampling import require_file, sample_lines
from pairloom.pipeline.new_recipe.tables import Table, read_table, table_format

__all__ = ["look_at_folder"]

# Behind a name where a file has several rows: `dog.jpg#0`.
_NUMBER = re.compile(r"#\d+$")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")
_TARGET = "caption"


def look_at_folder(folder: Path, file: Path, wanted: Wanted) -> FilesLook:
    """Looks at a table one of whose columns names files in a folder.

    Beside that column there is one that is written, and maybe one that is read too: a question
    whose answer is written.

    Raises:
        UserError: it is no table, or no column names files there.
    """
    require_file(file)
    lines, count = sample_lines(file)
    form = table_format(file, lines)
    if form not in ("csv", "tsv"):
        raise UserError(
            f"Expected lines of a file's name and what is said about it, with a tab or a comma "
            f"between them, beside the folder {folder}. Received: {file}."
        )
    table = read_table(file, form, lines)
    named = _column_of_names(table, folder, file)
    kind = _kind_of_files(named.names)
    others = [i for i in range(len(table.names)) if i != named.at]
    called = str(kind.part("looking").CALLED)
    chosen, doubt = _others(table, others, wanted)
    if len(others) == 1 and (named.numbered or named.at == 0):
        look = _captions(file, table, named, called, count)
    else:
        fields = _fields(table, [named.at, *chosen], called)
        rows = [[row[i] for i in (named.at, *chosen)] for row in table.rows]
        look = FilesLook(
            form,
            (file,),
            count - table.header,
            by_field(complete(rows, [file]), fields),
            inputs=tuple(fields[:-1]),
            output=fields[-1],
            header=table.header,
            columns=tuple(table.names[i] if table.header else i for i in (named.at, *chosen)),
            column_names=table.names,
            doubt=doubt,
        )
    return _with_folder(look, folder)


@dataclass(frozen=True)
class _Named:
    """The column that names files.

    Attributes:
        at: Where it stands.
        names: What it holds.
        numbered: Whether a number stands behind each name.
    """

    at: int
    names: Sequence[str]
    numbered: bool


def _column_of_names(table: Table, folder: Path, file: Path) -> _Named:
    few = spread(table.rows, JUDGED)
    found = []
    for at in range(len(table.names)):
        held = [row[at].strip() for row in few]
        names = [_NUMBER.sub("", name) for name in held]
        there = sum(os.path.isfile(folder / name) for name in names)
        found.append((there, _Named(at, names, names != held)))
    there, best = max(found, key=lambda one: one[0])
    if there * 2 <= len(few):
        shown = ", ".join(few[0])[:80] if few else "nothing"
        raise UserError(
            f"Expected a column with names of files in {folder}. Received: {file}, of whose first "
            f"{len(few):,} rows {there:,} name one; a row has: {shown}."
        )
    return best


def _kind_of_files(names: Sequence[str]) -> Kind:
    """The kind whose files have such names."""
    kinds = [kind for kind in map(find_kind, kind_names()) if kind.is_file and kind.has("looking")]
    judged = [(*kind.part("looking").fits(names), kind) for kind in kinds]
    score, why, best = max(judged, key=lambda one: one[0])
    if score <= 0:
        raise UserError(f"Expected files of a kind that there is. Received: {names[0]} ({why}).")
    return best


def _others(table: Table, others: Sequence[int], wanted: Wanted) -> tuple[list[int], str]:
    """The columns besides the files, the one that is written last, and what else they could be."""
    if len(others) == 1:
        return list(others), ""
    names = [table.names[i] for i in others]
    lower = [name.lower() for name in names]
    if not wanted and _TARGET in lower:
        return [others[lower.index(_TARGET)]], ""
    rows = [[row[i] for i in others] for row in table.rows]
    chosen = choose_columns(names, rows, wanted, named=table.header)
    return [others[chosen.source], others[chosen.target]], chosen.doubt


def _fields(table: Table, chosen: Sequence[int], called: str) -> list[str]:
    """Names of the fields: those of the columns, where they can be names."""
    usual = [called, *(("question", "answer") if len(chosen) > 2 else (_TARGET,))]
    if not table.header:
        return usual
    names = [table.names[i].strip().lower() for i in chosen]
    fit = all(map(_NAME.fullmatch, names)) and len(set(names)) == len(names)
    return names if fit else usual


def _captions(file: Path, table: Table, named: _Named, called: str, count: int) -> FilesLook:
    """Names and captions, which may have commas that nothing quotes."""
    rows = [[name, ",".join(row[1:])] for name, row in _pairs(table, named)]
    return FilesLook(
        "captions",
        (file,),
        count - table.header,
        by_field(complete(rows, [file]), (called, _TARGET)),
        inputs=(called,),
        output=_TARGET,
        why="a name of a file and what is said about it, once or several times",
    )


def _pairs(table: Table, named: _Named) -> Iterator[tuple[str, Sequence[Any]]]:
    for row in table.rows:
        yield _NUMBER.sub("", row[named.at].strip()), row


def _with_folder(look: FilesLook, folder: Path) -> FilesLook:
    several = len(set(look.values[look.inputs[0]])) < len(look.values[look.inputs[0]])
    alone = len(look.inputs) == 1
    return dataclasses.replace(look, folders={look.inputs[0]: folder}, references=several and alone)
