"""Looks at a user's files: what format they have, how many pairs, which values."""

from collections.abc import Sequence
from pathlib import Path

from pairloom.components.pairs.formats import FORMATS
from pairloom.components.pairs.formats.passages import cut_passages
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import NOTHING, Wanted
from pairloom.pipeline.new_recipe.files_look import FilesLook, by_field, complete
from pairloom.pipeline.new_recipe.folders import look_at_folder
from pairloom.pipeline.new_recipe.sampling import require_file, sample_lines
from pairloom.pipeline.new_recipe.tables import look_at_table, table_format

__all__ = ["look_at"]


def look_at(paths: Sequence[str], wanted: Wanted = NOTHING) -> FilesLook:
    """Looks at one file of pairs or of running text, or at a file of inputs and one of outputs.

    Or at a folder of files and a table of what is said about them.

    Args:
        paths: The files.
        wanted: Which columns are input and output, where the user says so.

    Raises:
        UserError: a file is missing, empty or not text; the two differ in length; no two columns
            are found, or those that are wanted are not there.
    """
    files = tuple(Path(path).expanduser() for path in paths)
    folders = [file for file in files if file.is_dir()]
    if len(files) == 2 and len(folders) == 1:
        [file] = set(files) - set(folders)
        return look_at_folder(folders[0], file, wanted)
    for file in files:
        require_file(file)
    if len(files) == 2:
        _require_no_columns(wanted, "two files of lines")
        return _look_at_parallel(files)
    if len(files) != 1:
        raise UserError(f"Expected one file of pairs or two files. Received: {len(files)} files.")
    [file] = files
    lines, count = sample_lines(file)
    if _are_conversations(lines):
        _require_no_columns(wanted, "conversations")
        return _look_at_conversations(file, lines, count)
    table = table_format(file, lines)
    if not table:
        _require_no_columns(wanted, "running text")
        return _look_at_passages(file, lines, count)
    return look_at_table(file, table, lines, count, wanted)


def _require_no_columns(wanted: Wanted, what: str) -> None:
    if wanted:
        raise UserError(
            "Expected a table or JSON lines where --source, --target or --swap are given. "
            f"Received: {what}. Of two files the first is the input: give them in that order."
        )


def _look_at_parallel(files: tuple[Path, ...]) -> FilesLook:
    (source, source_count), (target, target_count) = map(sample_lines, files)
    if source_count != target_count:
        raise UserError(
            f"Expected as many lines in both files. Received: {source_count:,} in {files[0]}, "
            f"{target_count:,} in {files[1]}. Line 7 of the one must belong to line 7 of the other."
        )
    rows = complete(zip(source, target), files)
    return FilesLook("parallel", files, source_count, by_field(rows))


def _separator() -> str:
    return str(FORMATS["conversations"].options["separator"].default)


def _are_conversations(lines: Sequence[str]) -> bool:
    return sum(_separator() in line for line in lines) * 2 > len(lines)


def _look_at_conversations(file: Path, lines: Sequence[str], count: int) -> FilesLook:
    separator, context = _separator(), int(FORMATS["conversations"].options["context"].default)
    rows: list[tuple[list[str], str]] = []
    for line in lines:
        said = [part.strip() for part in line.split(separator) if part.strip()]
        rows += [(said[max(0, at - context) : at], said[at]) for at in range(1, len(said))]
    pairs = round(len(rows) * count / len(lines))
    values = by_field(complete(rows, [file]), ("context", "reply"))
    return FilesLook(
        "conversations",
        (file,),
        pairs,
        values,
        inputs=("context",),
        output="reply",
        options={"context": context},
        why=f"a conversation a line, {separator} behind each utterance",
    )


def _look_at_passages(file: Path, lines: Sequence[str], count: int) -> FilesLook:
    length = int(FORMATS["passages"].options["length"].default)
    text = "\n".join(lines)
    rows = complete(([part] for _, _, part in cut_passages([text], length)), [file])
    return FilesLook(
        "passages",
        (file,),
        max(1, round(len(rows) * count / len(lines))),
        by_field(rows, ("passage",)),
        inputs=(),
        output="passage",
        options={"length": length},
        why="one file without columns: running text, to be gone on with",
    )
