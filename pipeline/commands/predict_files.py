"""`pairloom predict` about files: one, with its picture, or all that a folder holds."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    from pairloom.serving.answers import Answer
    from pairloom.serving.client import Client

__all__ = ["FileAsked", "answer_folder", "file_asked"]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class FileAsked:
    """What a question says of an input whose values are files.

    Attributes:
        field: The input.
        path: A file, or a folder.
        row: The whole question.
    """

    field: str
    path: Path
    row: Row

    @property
    def picture(self) -> str:
        """Where what was looked at is drawn if nobody says; empty: it cannot be."""
        return f"{self.path.stem}.attention.png" if find_spec("matplotlib") else ""

    def rows(self) -> list[Row]:
        """A question about each file in the folder and the folders in it."""
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        return [{**self.row, self.field: str(file)} for file in files if file.name[0] != "."]


def file_asked(client: "Client", rows: Sequence[Row]) -> FileAsked | None:
    """The file that the only question is about; None: there are several, or it is about none."""
    from pairloom.serving.client_values import field_kind

    if len(rows) != 1:
        return None
    for field in client.describe().inputs:
        if field_kind(field).is_file:
            return FileAsked(field.name, Path(rows[0][field.name]), rows[0])
    return None


def answer_folder(client: "Client", asked: FileAsked, at_once: int) -> int:
    """Prints `file<TAB>answer` for every file in a folder, and a remark on those that will not do.

    Returns:
        The exit code: 1 where no file could be answered.

    Raises:
        UserError: there is no file in it.
    """
    rows = asked.rows()
    if not rows:
        raise UserError(f"Expected a folder with files. Received: {asked.path}, which is empty.")
    good = 0
    with _progress(len(rows)) as advance:
        for start in range(0, len(rows), at_once):
            for row, answer in _answers(client, rows[start : start + at_once]):
                name = Path(row[asked.field]).relative_to(asked.path)
                if isinstance(answer, Exception):
                    print(f"{name}: {answer}", file=sys.stderr)
                else:
                    good += 1
                    print(name, " ".join(answer.text.split()), sep="\t")
                advance()
            sys.stdout.flush()
    if good < len(rows):
        print(f"{good:,} of {len(rows):,} files answered.", file=sys.stderr)
    return 0 if good else 1


def _answers(client: "Client", rows: Sequence[Row]) -> Iterator[tuple[Row, "Answer | Exception"]]:
    """Answers in order; where a server refuses several, the halves are asked apart."""
    from pairloom.serving.client import BadRequest, Several

    try:
        columns = {name: Several(row[name] for row in rows) for name in rows[0]}
        yield from zip(rows, client.predict(**columns))
    except BadRequest as error:
        if len(rows) == 1:
            yield rows[0], error
            return
        middle = len(rows) // 2
        yield from _answers(client, rows[:middle])
        yield from _answers(client, rows[middle:])


@contextmanager
def _progress(count: int) -> Iterator[Callable[[], None]]:
    """A bar for people alone; lines that are printed meanwhile stand above it."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    # What goes into a pipe must not pass through the terminal.
    to_terminal = sys.stdout.isatty()
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, redirect_stdout=to_terminal, transient=True
    ) as progress:
        bar = progress.add_task("", total=count)
        yield lambda: progress.advance(bar)
