"""`pairloom predict TEXT...`: asks a served model."""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairloom.pipeline.commands.connection import add_connection_arguments, connect
from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    from pairloom.serving.client import Client

# A server with batching takes no more than its max_batch_size at once, and `pairloom deploy` writes
# no smaller one. Few at once also means that the first answers come soon.
BATCH = 8

TAKES_OTHER_FLAGS = "--field"
"""`--photo a.jpg` is `--field photo=a.jpg`: the inputs are the model's to name."""

Rows = dict[str, list[Any]]
Print = Callable[["Client", Rows], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "text",
        nargs="*",
        metavar="TEXT",
        help="what to ask, a value each; - reads standard input, a line each",
    )
    parser.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input by its name, also --NAME VALUE; repeat it for each. Where its values are "
        "files, a folder asks about every file in it",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--explain", action="store_true", help="show what the model looked at")
    shown.add_argument(
        "--picture",
        metavar="FILE",
        help="draw what it looked at for one answer into a PNG file (about one file it is drawn "
        "anyway, into FILE.attention.png)",
    )
    shown.add_argument(
        "--nbest",
        nargs="?",
        const="",
        metavar="N",
        help="show the alternatives with scores (N: so many of them)",
    )
    shown.add_argument(
        "--sample", type=int, default=0, metavar="N", help="show N answers drawn by chance"
    )
    parser.add_argument(
        "--seed", type=int, help="for --sample: the same draws each time (default: others)"
    )
    add_connection_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Prints an answer a line; with --explain, --nbest or --sample a block each."""
    if args.picture:
        require_picture_file(args.picture)
    if args.sample < 0:
        raise UserError(f"Expected --sample of at least 1. Received: {args.sample}.")
    if args.seed is not None and not args.sample:
        raise UserError("Expected --seed with --sample. Received: --seed alone.")
    count, words = alternatives(args.nbest, args.text)
    from pairloom.pipeline.commands.predict_files import answer_folder, file_asked
    from pairloom.pipeline.commands.predict_questions import asked_rows

    plain = not (args.explain or args.picture or args.nbest is not None or args.sample)
    streamed = not args.field and (not words or words == ["-"])
    with connect(args) as client:
        rows = asked_rows(client, words, args.field)
        if args.picture or not streamed:
            given = list(rows)
            asked = file_asked(client, given)
            if asked and asked.path.is_dir():
                require_plain(plain)
                return answer_folder(client, asked, BATCH)
            picture = asked.picture if asked and plain else args.picture
            if picture:
                draw(client, given, picture, wanted=bool(args.picture))
                return 0
            rows = iter(given)
        for batch in batches(rows):
            print_in_parts(_printer(args, count), client, batch)
            # Into a pipe Python would keep the answers back until it has some kilobytes.
            sys.stdout.flush()
    return 0


def require_plain(plain: bool) -> None:
    """Refuses what can be shown of one answer alone.

    Raises:
        UserError: it was asked for.
    """
    if not plain:
        raise UserError(
            "Expected a folder without --explain, --picture, --nbest or --sample, which are for "
            "one file. Received: both."
        )


def alternatives(given: str | None, words: list[str]) -> tuple[int, list[str]]:
    """How many alternatives are wanted, 0: all, and the words to ask about.

    What stands behind --nbest is a number, or the first of the words.

    Raises:
        UserError: It is a number that cannot be.
    """
    if not given:
        return 0, words
    if not given.isdecimal():
        return 0, [given, *words]
    if not int(given):
        raise UserError(f"Expected --nbest of at least 1. Received: {given}.")
    return int(given), words


def _printer(args: argparse.Namespace, count: int) -> Print:
    from pairloom.pipeline.commands import predict_answers as shown

    if args.explain:
        return shown.print_explained
    if args.nbest is not None:
        return lambda client, rows: shown.print_nbest(client, rows, count)
    if args.sample:
        return lambda client, rows: shown.print_samples(client, rows, args.sample, args.seed)
    return shown.print_answers


def print_in_parts(print_batch: Print, client: "Client", rows: Rows) -> None:
    """Prints a batch, in smaller ones where the server takes no more at once."""
    from pairloom.serving.client import TooManyTexts

    try:
        print_batch(client, rows)
    except TooManyTexts as error:
        count = max(map(len, rows.values()))
        for start in range(0, count, error.most):
            part = slice(start, start + error.most)
            print_batch(client, {name: type(values)(values[part]) for name, values in rows.items()})


def batches(rows: Iterator[dict[str, Any]]) -> Iterator[Rows]:
    """The rows in columns of `BATCH`, each as soon as it is full."""
    from pairloom.serving.client import Several

    while batch := list(islice(rows, BATCH)):
        yield {name: Several(row[name] for row in batch) for name in batch[0]}


def require_picture_file(path: str) -> None:
    """Looks before asking whether the picture can be written.

    Raises:
        UserError: it cannot.
    """
    file = Path(path)
    if file.suffix.lower() != ".png":
        raise UserError(f"Expected a --picture that ends in .png. Received: {path}.")
    if not file.parent.is_dir():
        raise UserError(f"Expected a --picture in a folder. Received: {path}; make it first.")


def draw(client: "Client", rows: list[dict[str, Any]], path: str, wanted: bool = True) -> None:
    """Answers one row of inputs and draws what was looked at for it.

    Args:
        client: Whom to ask.
        rows: The row.
        path: Where the picture goes.
        wanted: Whether it is an error that there is nothing to draw.

    Raises:
        UserError: there are several rows, or nothing was looked at.
    """
    if len(rows) != 1:
        raise UserError(f"Expected one question with --picture. Received {len(rows)}.")
    from pairloom.pipeline.commands.predict_answers import planned_picture, shown_row
    from pairloom.serving.pictures import save_picture

    [columns] = batches(iter(rows))
    [answer] = client.explain(**columns)
    picture = planned_picture(client.describe(), rows[0], answer)
    if wanted and picture is None:
        raise UserError("Expected a model that attends to its input. This one has nothing to draw.")
    print(answer.text)
    if picture is None:
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        save_picture(path, picture, f"{shown_row(rows[0])} → {answer.text}")
    # Beside the answer, which may go into a pipe.
    print(f"Drew {path}.", file=sys.stderr)
    for missing in (one for one in told if one.category.__name__ == "MissingGlyphs"):
        print(f"note: {missing.message}", file=sys.stderr)
