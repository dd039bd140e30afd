"""Flags named after a model's inputs: `--photo a.jpg` for `--field photo=a.jpg`."""

import argparse
from collections.abc import Iterator, Sequence

__all__ = ["with_field_flags"]


def with_field_flags(
    parser: argparse.ArgumentParser, arguments: Sequence[str], known: str
) -> list[str]:
    """Writes every flag that a parser does not know as a value of one that it knows.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--field", action="append")
    >>> with_field_flags(parser, ["--photo", "a.jpg", "--question=Who?"], "--field")
    ['--field', 'photo=a.jpg', '--field', 'question=Who?']

    Only the model's description tells which inputs there are, and that is asked later. A flag
    without a value stays as it is, for the parser to complain of.

    Args:
        parser: Knows its own flags.
        arguments: Of the command line.
        known: The flag that takes `NAME=VALUE`.
    """
    return list(_written(parser, list(arguments), known))


def _written(parser: argparse.ArgumentParser, arguments: list[str], known: str) -> Iterator[str]:
    own = set(parser._option_string_actions)
    while arguments:
        word = arguments.pop(0)
        if word == "--":
            yield from (word, *arguments)
            return
        flag, equals, value = word.partition("=")
        if len(flag) < 3 or not flag.startswith("--") or flag in own:
            yield word
            continue
        if not equals:
            if not arguments or arguments[0].startswith("--"):
                yield word
                continue
            value = arguments.pop(0)
        yield from (known, f"{flag[2:]}={value}")
