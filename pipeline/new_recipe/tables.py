"""Looks at tables: TSV, CSV and JSON lines. Which columns are the input and the output."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairloom.components.pairs.formats.comma_separated import read_records
from pairloom.kinds.looking import spread
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete
from pairloom.pipeline.new_recipe.judging import is_output_only, looks_like_something
from pairloom.pipeline.new_recipe.number_tables import look_at_number_table
from pairloom.pipeline.new_recipe.sampling import LINE_LIMIT

__all__ = ["look_at_table", "table_format"]

# Names of columns or JSON keys that people use, input and output.
KNOWN_NAMES = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("input", "output"),
    ("question", "answer"),
    ("prompt", "response"),
    ("text", "summary"),
    ("document", "summary"),
    ("word", "pronunciation"),
    ("word", "phonemes"),
    ("en", "de"),
    ("en", "fr"),
    ("context", "reply"),
    ("context", "response"),
    ("history", "response"),
    ("utterances", "reply"),
    *(
        (read, named)
        for read in (
            *("text", "texts", "sentence", "sentences", "document", "review", "comment"),
            *("features", "numbers", "values", "vector", "pixels", "x"),
        )
        for named in ("label", "class", "category", "sentiment", "verdict", "topic", "intent", "y")
    ),
)
_HEADER_WORDS = {name for pair in KNOWN_NAMES for name in pair} | {
    "id",
    "sentence1",
    "sentence2",
    "lang",
    "es",
    "it",
    "translation",
}
_JUDGED = 2_000


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


def look_at_table(file: Path, table: str, lines: list[str], count: int) -> FilesLook:
    """Looks at a file of one of these formats.

    Raises:
        UserError: there are not two columns of pairs.
    """
    if table == "jsonl":
        return _look_at_json(file, lines, count)
    rows = _csv_rows(file, lines) if table == "csv" else [line.split("\t") for line in lines]
    width, _ = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        raise UserError(
            f"Expected at least two columns. Received: {file}, whose lines have one. Columns are "
            "separated by tabs (TSV) or commas (CSV); or give two files, inputs and outputs."
        )
    good = [row for row in rows if len(row) == width]
    if (numbers := look_at_number_table(file, table, good, count)) is not None:
        return numbers
    header = _is_header(rows[0])
    names = tuple(rows[0]) if header else tuple(str(i) for i in range(width))
    good = [row for row in rows[header:] if len(row) == width]
    source, target = choose_columns(names, good, named=header)
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
    )


def choose_columns(
    names: Sequence[str], rows: Sequence[Sequence[Any]], named: bool = True
) -> tuple[int, int]:
    """Two columns by their names, or else by what they hold.

    The two that hold the most, in their order; but what can only be an output is never the input,
    and goes before a column that nothing else tells of.
    """
    lower = [name.lower() for name in names]
    for source, target in KNOWN_NAMES if named else ():
        if source in lower and target in lower:
            return lower.index(source), lower.index(target)
    columns = [[row[i] for row in spread(rows, _JUDGED)] for i in range(len(names))]
    sizes = [sum(len(str(value)) for value in column) for column in columns]
    order = sorted(range(len(names)), key=lambda i: -sizes[i])
    only = {i: is_output_only(_present(columns[i])) for i in order}
    largest, second = order[:2]
    written = [i for i in order if only[i]]
    if len(written) == 1 and not only[largest] and sizes[second] * 2 < sizes[largest]:
        return largest, written[0]
    if only[largest] != only[second]:
        return (second, largest) if only[largest] else (largest, second)
    return min(largest, second), max(largest, second)


def _present(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if value is not None and value != ""] or [""]


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


def _look_at_json(file: Path, lines: list[str], count: int) -> FilesLook:
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    shared = Counter(key for row in rows for key, value in row.items() if value is not None)
    often = [key for key, times in shared.items() if times > len(rows) / 2]
    few = spread(rows, _JUDGED)
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
    source, target = choose_columns(names, table)
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
    )


def _is_header(row: list[str]) -> bool:
    cells = [cell.strip().lower() for cell in row]
    short = all(cell and len(cell) <= 24 and " " not in cell for cell in cells)
    return short and len(set(cells)) == len(cells) and len(_HEADER_WORDS & set(cells)) >= 2
