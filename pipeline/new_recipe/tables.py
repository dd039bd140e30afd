"""Looks at tables: TSV, CSV and JSON lines."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairloom.components.pairs.formats.comma_separated import read_records
from pairloom.kinds.looking import spread
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import JUDGED, NOTHING, Wanted, choose_columns, is_header
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete
from pairloom.pipeline.new_recipe.judging import looks_like_something
from pairloom.pipeline.new_recipe.number_tables import look_at_number_table
from pairloom.pipeline.new_recipe.sampling import LINE_LIMIT

__all__ = ["look_at_table", "read_rows", "table_format"]


def table_format(file: Path, lines: Sequence[str]) -> str:
    """`tsv`, `csv` or `jsonl`; empty: these lines are no table."""
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    suffixes = [s.lower() for s in file.suffixes]
    if ".csv" in suffixes and "\t" not in first:
        return "csv"
    if "\t" in first or ".tsv" in suffixes:
        return "tsv"
    # Prose has commas too, but never as many in every line.
    counts = Counter(line.count(",") for line in lines if line.strip())
    commas, times = counts.most_common(1)[0] if counts else (0, 0)
    return "csv" if commas and times * 10 > 9 * counts.total() else ""


def look_at_table(
    file: Path, table: str, lines: list[str], count: int, wanted: Wanted = NOTHING
) -> FilesLook:
    """Looks at a file of one of these formats.

    Raises:
        UserError: there are not two columns of pairs, or not those that are wanted.
    """
    if table == "jsonl":
        return _look_at_json(file, lines, count, wanted)
    rows = read_rows(file, table, lines)
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        raise UserError(
            f"Expected at least two columns. Received: {file}, whose lines have one. Columns are "
            "separated by tabs (TSV) or commas (CSV); or give two files, inputs and outputs."
        )
    good = [row for row in rows if len(row) == width]
    numbers = None if wanted else look_at_number_table(file, table, good, count)
    if numbers is not None:
        return numbers
    header = is_header(rows) or bool({wanted.source, wanted.target} & set(rows[0]))
    names = tuple(rows[0]) if header else tuple(str(i) for i in range(width))
    good = [row for row in rows[header:] if len(row) == width]
    chosen = choose_columns(names, good, wanted, named=header)
    source, target = chosen.source, chosen.target
    usual = width == 2 and (source, target) == (0, 1)
    columns = (names[source], names[target]) if header else (source, target)
    values = by_field(complete(([row[source], row[target]] for row in good), [file]))
    return FilesLook(
        table,
        (file,),
        count - header,
        values,
        header=header,
        columns=None if usual else columns,
        column_names=names,
        doubt=chosen.doubt,
    )


def read_rows(file: Path, table: str, lines: list[str]) -> list[list[str]]:
    """The rows of a `csv` or `tsv`, the header among them.

    Raises:
        UserError: there are none.
    """
    if table == "csv":
        return _csv_rows(file, lines)
    return [line.split("\t") for line in lines]


def _csv_rows(file: Path, lines: list[str]) -> list[list[str]]:
    """The rows that a run would read too; those that it would reject are left out."""
    numbered = enumerate((line.encode() for line in lines), 1)
    rows: list[list[str]] = []
    wrong = ""
    for number, cells, _ in read_records(numbered, LINE_LIMIT):
        if isinstance(cells, list):
            rows.append(cells)
        else:
            wrong = wrong or f"line {number}: {cells}"
    if not rows:
        raise UserError(
            f"Expected rows of comma-separated text. Received: {file}, without any ({wrong}). "
            "It must be CSV in UTF-8, with two columns or more."
        )
    return rows


def _look_at_json(file: Path, lines: list[str], count: int, wanted: Wanted) -> FilesLook:
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(_flat(row))
    shared = Counter(key for row in rows for key, value in row.items() if value is not None)
    often = [key for key, times in shared.items() if times > len(rows) / 2]
    few = spread(rows, JUDGED)
    held = {key: [row[key] for row in few if row.get(key) is not None] for key in often}
    names = tuple(key for key in often if looks_like_something(held[key]))
    if len(names) == 1 and isinstance(held[names[0]][0], list):
        values = by_field(complete(([row.get(names[0])] for row in rows), [file]), ("values",))
        columns = None if names == ("values",) else names
        why = f"one key, {names[0]}, and nothing to say of it: it is read, and written again"
        return FilesLook(
            "jsonl", (file,), count, values, ("values",), "values", False, columns, names, {}, why
        )
    if len(names) < 2:
        raise UserError(
            "Expected JSON objects with two keys that hold text, labels or lists, one a line. "
            f"Received: {file}, whose lines share {', '.join(names) or 'none'}."
        )
    table = [[row.get(name) for name in names] for row in rows]
    chosen = choose_columns(names, table, wanted)
    source, target = chosen.source, chosen.target
    values = by_field(complete(([row[source], row[target]] for row in table), [file]))
    usual = (names[source], names[target]) == ("source", "target")
    options = {}
    # Several right answers are a row each: no kind of several texts can be written.
    if all(isinstance(value, list) and isinstance(value[0], str) for value in values["target"]):
        values["target"] = [value[0] for value in values["target"]]
        options = {"each": "target"}
    return FilesLook(
        "jsonl",
        (file,),
        count,
        values,
        columns=None if usual else (names[source], names[target]),
        column_names=names,
        options=options,
        doubt=chosen.doubt,
    )


def _flat(row: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Keys that lead into nested objects: `{"translation": {"en": ..}}` has `translation.en`."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{before}{key}."))
        else:
            flat[before + key] = value
    return flat
