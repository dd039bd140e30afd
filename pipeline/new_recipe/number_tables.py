"""Tables whose columns are numbers: a line is one vector, or a vector and what is said of it."""

import re
from collections.abc import Sequence
from pathlib import Path

from pairloom.kinds.looking import spread
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete

__all__ = ["look_at_number_table"]

# Two columns of numbers are rather a pair, such as a sum and its result.
_LEAST = 3


def look_at_number_table(
    file: Path, table: str, rows: Sequence[Sequence[str]], count: int
) -> FilesLook | None:
    """Looks at the rows of a table, its header included; None: they are no numbers."""
    header = len(rows) > 1 and not any(map(_is_number, rows[0]))
    body = rows[header:]
    width = len(rows[0])
    few = spread(body, 1000)
    numeric = [all(_is_number(row[i]) for row in few) for i in range(width)]
    if sum(numeric) < _LEAST:
        return None
    if all(numeric):
        joined = complete(([" ".join(row)] for row in body), [file])
        return FilesLook(
            # Where nothing separates columns, a line is one, and the numbers in it are taken apart.
            {"csv": "tsv", "tsv": "csv"}[table],
            (file,),
            count - header,
            by_field(joined, ("values",)),
            inputs=("values",),
            output="values",
            header=header,
            why=f"{width} columns of numbers, read as one field: each line is one vector, to be "
            "written again",
        )
    if numeric.count(False) > 1:
        return None
    return _with_another(file, table, rows, header, count, numeric.index(False))


def _with_another(
    file: Path, table: str, rows: Sequence[Sequence[str]], header: bool, count: int, other: int
) -> FilesLook:
    """Vectors and what the one other column says of each."""
    names = [name.strip() for name in rows[0]] if header else []
    # Names that come twice say nothing; positions always do.
    places: Sequence[int | str] = names if len(set(names)) == len(rows[0]) else range(len(rows[0]))
    numbers = [i for i in range(len(rows[0])) if i != other]
    pairs = ([" ".join(row[i] for i in numbers), row[other]] for row in rows[header:])
    return FilesLook(
        table,
        (file,),
        count - header,
        by_field(complete(pairs, [file]), ("values", "label")),
        inputs=("values",),
        output="label",
        header=header,
        columns=(tuple(places[i] for i in numbers), places[other]),
        column_names=tuple(map(str, places)),
        why=f"{len(numbers)} columns of numbers, read as one field, and another",
    )


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", cell) is not None
