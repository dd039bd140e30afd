"""Tables whose columns are numbers: a line is one vector."""

import re
from collections.abc import Sequence
from pathlib import Path

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete

__all__ = ["look_at_number_table"]

# Two columns of numbers are rather a pair, such as a sum and its result.
_LEAST = 3
_BETWEEN = {"csv": ",", "tsv": "\t"}


def look_at_number_table(
    file: Path, table: str, rows: Sequence[Sequence[str]], count: int
) -> FilesLook | None:
    """Looks at the rows of a table, its header included; None: they are no numbers.

    Raises:
        UserError: all columns but one are numbers; they must be one column.
    """
    header = len(rows) > 1 and not any(map(_is_number, rows[0]))
    body = rows[header:]
    width = len(rows[0])
    numeric = [all(_is_number(row[i]) for row in body[:1000]) for i in range(width)]
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
    others = [i for i in range(width) if not numeric[i]]
    if others in ([0], [width - 1]):
        raise UserError(_one_column(file, table, others[0] == 0, header))
    return None


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", cell) is not None


def _one_column(file: Path, table: str, first: bool, header: bool) -> str:
    mark = _BETWEEN[table].replace("\t", r"\t")
    if table == "tsv":
        # Two steps, for tabs separate the numbers as well: all to spaces but the one that stays.
        change = r"s/\t/ /2g" if first else r"s/\t([^\t]*)$/\n\1/; s/\t/ /g; s/\n/\t/"
    else:
        change = rf"s/{mark}/\t/" if first else rf"s/{mark}([^{mark}]*)$/\t\1/"
    where = "first" if first else "last"
    # A header names columns that are then no more.
    change = f"1d; {change}" if header else change
    return (
        "Expected the numbers of a row in one column, with spaces or commas between them. "
        f"Received: {file}, with a column each, and something else in the {where} one. Make two "
        f"columns of them, as in: sed -E '{change}' {file.name} > pairs.tsv"
    )
