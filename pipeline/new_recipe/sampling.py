"""Lines from everywhere in a user's file, and how many there are."""

import difflib
from pathlib import Path

from pairloom.components.pairs import sampling
from pairloom.components.pairs.unreadable import what_is_wrong
from pairloom.pipeline.errors import UserError

__all__ = ["LINE_LIMIT", "SAMPLE", "require_file", "sample_lines"]

SAMPLE = 20_000
LINE_LIMIT = 1 << 20


def require_file(file: Path) -> None:
    """Raises where there is no such file.

    Raises:
        UserError: naming the nearest one beside it.
    """
    if file.is_dir():
        raise UserError(f"Expected a file. Received: the folder {file}.")
    if not file.exists():
        beside = [p.name for p in file.parent.glob("*")] if file.parent.is_dir() else []
        near = difflib.get_close_matches(file.name, beside, n=1)
        hint = f" Did you mean {file.parent / near[0]}?" if near else ""
        raise UserError(f"Expected a file. Received: {file}, which is not there.{hint}")


def sample_lines(file: Path) -> tuple[list[str], int]:
    """Some lines as text, the first among them, and how many lines there are in all.

    Raises:
        UserError: the file is empty, or not UTF-8.
    """
    if wrong := what_is_wrong(str(file)):
        raise UserError(f"Expected text in UTF-8, plain or gzip. Received: {wrong}")
    sample: list[str] = []
    broken = 0
    lines, count = sampling.sample_lines(str(file), LINE_LIMIT, SAMPLE)
    for line in lines:
        try:
            sample.append(line.decode())
        except UnicodeDecodeError:
            broken += 1
            sample.append("")
    if not count:
        raise UserError(f"Expected lines of text. Received: {file}, which is empty.")
    if broken > len(sample) / 2:
        raise UserError(
            f"Expected text in UTF-8. Received: {file}, in another encoding or not text. "
            f"Convert it first, as in: iconv -f latin1 -t utf-8 {file.name} > utf8.txt"
        )
    return sample, count
