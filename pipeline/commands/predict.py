"""`pairloom predict TEXT...`: asks a served model."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from pairloom.pipeline.commands.connection import add_connection_arguments, connect
from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    from pairloom.serving.client import Client

# A server with batching takes no more than its max_batch_size at once, and `pairloom deploy` writes
# no smaller one. Few at once also means that the first answers come soon.
BATCH = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help="what to ask; - reads standard input, a line each"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--explain", action="store_true", help="show the attention as a heat map")
    shown.add_argument(
        "--picture", metavar="FILE", help="draw the attention of one text into a PNG file"
    )
    shown.add_argument("--nbest", action="store_true", help="show the alternatives with scores")
    add_connection_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Prints an answer a line; with --explain or --nbest a block each."""
    texts = given_texts(args.text)
    if args.picture:
        require_picture_file(args.picture)
    with connect(args) as client:
        if args.picture:
            draw(client, list(texts), args.picture)
            return 0
        print_batch = print_answers
        if args.explain:
            print_batch = print_explained
        elif args.nbest:
            print_batch = print_nbest
        for batch in batches(texts):
            print_in_parts(print_batch, client, batch)
            # Into a pipe Python would keep the answers back until it has some kilobytes.
            sys.stdout.flush()
    return 0


def print_in_parts(
    print_batch: Callable[["Client", list[str]], None], client: "Client", texts: list[str]
) -> None:
    """Prints a batch, in smaller ones where the server takes no more at once."""
    from pairloom.serving.client import TooManyTexts

    try:
        print_batch(client, texts)
    except TooManyTexts as error:
        for start in range(0, len(texts), error.most):
            print_batch(client, texts[start : start + error.most])


def given_texts(words: list[str]) -> Iterator[str]:
    """The texts to ask about, from the command line, or line by line from standard input.

    Raises:
        UserError: there is none.
    """
    texts: Iterator[str] = iter(words)
    if words == ["-"] or (not words and not sys.stdin.isatty()):
        texts = (line.rstrip("\r\n") for line in sys.stdin)
    first = next(texts, None)
    if first is None:
        raise UserError('Expected a text to ask about, as in `pairloom predict "hello"`.')
    return chain([first], texts)


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in lists of `BATCH`, each as soon as it is full."""
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        yield batch


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


def draw(client: "Client", texts: list[str], path: str) -> None:
    """Answers one text and draws its attention.

    Raises:
        UserError: there are several texts.
    """
    if len(texts) != 1:
        raise UserError(f"Expected one text with --picture. Received {len(texts)}.")
    from pairloom.serving.pictures import save_alignment

    [answer] = client.explain(texts)
    title = f"{texts[0]} → {answer.text}"
    save_alignment(path, answer.attention, answer.source_tokens, answer.target_tokens, title)
    print(answer.text)
    print(f"Drew {path}.")


def print_answers(client: "Client", texts: list[str]) -> None:
    """Answers, a line each."""
    for answer in client.predict(texts):
        print(answer.text)


def print_nbest(client: "Client", texts: list[str]) -> None:
    """Texts, each with its alternatives and their scores."""
    for text, answers in zip(texts, client.nbest(texts)):
        print(text)
        for answer in answers:
            print(f"  {answer.score:8.3f}  {answer.text}")


def print_explained(client: "Client", texts: list[str]) -> None:
    """Answers with their heat maps."""
    from pairloom.serving.heatmap import heatmap

    color = sys.stdout.isatty()
    for text, answer in zip(texts, client.explain(texts)):
        print(f"{text} → {answer.text}   (score {answer.score:.3f})")
        print(heatmap(answer.attention, answer.source_tokens, answer.target_tokens, color=color))
        print()
