"""Looks at a folder of files and a table of what is said about them."""

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pairloom.kinds import Kind, find_kind, kind_names
from pairloom.kinds.looking import spread
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import JUDGED, Wanted, choose_columns
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete
from pairloom.pipeline.new_recipe.sampling import require_file, sample_lines
from pairloom.pipeline.new_recipe.tables import read_rows, table_format

__all__ = ["look_at_folder"]

# Behind a name where a file has several rows: `dog.jpg#0`.
_NUMBER = re.compile(r"#\d+$")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")
_TARGET = "caption"
_CAPTIONS_HEADER = ["image", _TARGET]


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
    rows = [row for row in read_rows(file, form, lines) if any(map(str.strip, row))]
    named = _column_of_names(rows, folder, file)
    kind = _kind_of_files(named.names)
    # Nothing tells a header as well as that it names no file.
    first = _NUMBER.sub("", rows[0][named.at].strip())
    table = _Table(rows, header=kind.part("looking").fits([first])[0] == 0)
    called = str(kind.part("looking").CALLED)
    if named.at == 0 and (named.numbered or table.is_captions):
        look = _captions(file, rows[table.header :], called, count - table.header)
    else:
        look = _columns(file, form, table, named.at, called, count - table.header, wanted)
    [read, *others] = look.inputs
    several = len(set(look.values[read])) < len(look.values[read])
    return dataclasses.replace(look, folders={read: folder}, references=several and not others)


class _Table:
    """Rows as wide as the first of them, the header apart.

    Attributes:
        names: Of the columns; without a header their positions.
        rows: Without the header.
        header: Whether there is one.
        width: How many columns there are.
        is_captions: Whether it is two columns as the format `captions` has them: without another
            header than its own, and maybe with commas in the second that nothing quotes.
    """

    def __init__(self, rows: Sequence[Sequence[str]], header: bool):
        head = [name.strip() for name in rows[0]]
        self.width = len(head) if header else Counter(map(len, rows)).most_common(1)[0][0]
        self.names = tuple(head) if header else tuple(map(str, range(self.width)))
        self.rows = [row for row in rows[header:] if len(row) == self.width]
        self.header = header
        ragged = len({len(row) for row in rows[header:]}) > 1
        self.is_captions = head == _CAPTIONS_HEADER if header else self.width == 2 or ragged


@dataclass(frozen=True)
class _Named:
    """The column that names files.

    Attributes:
        at: Where it stands.
        names: Those that there are.
        numbered: Whether a number stands behind some of them.
    """

    at: int
    names: Sequence[str]
    numbered: bool


def _column_of_names(rows: Sequence[Sequence[str]], folder: Path, file: Path) -> _Named:
    few = spread(rows, JUDGED)
    found = []
    for at in range(min(map(len, few))):
        held = [row[at].strip() for row in few]
        names = [_NUMBER.sub("", name) for name in held]
        there = [name for name in names if name and os.path.isfile(folder / name)]
        found.append(_Named(at, there, names != held))
    best = max(found, key=lambda one: len(one.names))
    if len(best.names) * 2 <= len(few):
        raise UserError(
            f"Expected a column with names of files in {folder}. Received: {file}, where "
            f"{len(best.names):,} of {len(few):,} rows have one; a row: {', '.join(few[-1])[:80]}."
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


def _captions(file: Path, rows: Sequence[Sequence[str]], called: str, count: int) -> FilesLook:
    """Names, each once or several times, and captions, whose commas need not be quoted."""
    pairs = ([_NUMBER.sub("", name.strip()), ",".join(others)] for name, *others in rows)
    return FilesLook(
        "captions",
        (file,),
        count,
        by_field(complete(pairs, [file]), (called, _TARGET)),
        inputs=(called,),
        output=_TARGET,
        why="a name of a file and what is said about it, once or several times",
    )


def _columns(
    file: Path, form: str, table: _Table, at: int, called: str, count: int, wanted: Wanted
) -> FilesLook:
    """A column of names, one that is written, and maybe one that is read too."""
    others, doubt = _others(table, at, wanted)
    chosen = [at, *others]
    fields = _fields(table, chosen, called)
    rows = ([row[i] for i in chosen] for row in table.rows)
    return FilesLook(
        form,
        (file,),
        count,
        by_field(complete(rows, [file]), fields),
        inputs=tuple(fields[:-1]),
        output=fields[-1],
        header=table.header,
        columns=tuple(table.names[i] if table.header else i for i in chosen),
        column_names=table.names,
        doubt=doubt,
    )


def _others(table: _Table, at: int, wanted: Wanted) -> tuple[list[int], str]:
    """The columns besides the files, the one that is written last, and what else they could be."""
    others = [i for i in range(table.width) if i != at]
    names = [table.names[i] for i in others]
    lower = [name.lower() for name in names]
    if len(others) == 1:
        return others, ""
    if not wanted and _TARGET in lower:
        return [others[lower.index(_TARGET)]], ""
    rows = [[row[i] for i in others] for row in table.rows]
    chosen = choose_columns(names, rows, wanted, named=table.header)
    return [others[chosen.source], others[chosen.target]], chosen.doubt


def _fields(table: _Table, chosen: Sequence[int], called: str) -> list[str]:
    """Names of the fields: those of the columns, where they can be names."""
    usual = [called, *(("question", "answer") if len(chosen) > 2 else (_TARGET,))]
    names = [table.names[i].lower() for i in chosen]
    fit = all(map(_NAME.fullmatch, names)) and len(set(names)) == len(names)
    return names if fit else usual
