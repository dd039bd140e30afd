"""What `pairloom predict` asks: words of the command line, or lines, as a model's inputs."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    from pairloom.kinds import Kind
    from pairloom.serving.client import Client


def asked_rows(
    client: "Client", words: Sequence[str], fields: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The questions, each an input's name to its value.

    Args:
        client: Knows the model's inputs.
        words: A value each, for a model of one input, or the beginnings for one of none.
        fields: `NAME=VALUE`, one question altogether.

    Raises:
        UserError: there is nothing to ask, an input is left out, not known, or empty.
    """
    kinds = input_kinds(client)
    goes_on = not client.describe().inputs
    if fields:
        if words:
            raise UserError(
                "Expected texts, or --field for each input, not both. Received: "
                f"{' '.join(words)!r} and --field {fields[0]}."
            )
        return iter([_row(kinds, fields, goes_on)])
    if len(kinds) != 1:
        named = " ".join(f"--field {name}=..." for name in kinds)
        raise UserError(f"Expected a value for each of the model's inputs: {named}.")
    [(name, kind)] = kinds.items()
    lines = from_standard_input(words)
    if lines is None:
        for word in words:
            if not goes_on:
                require_something(name, word)
        lines = iter(words)
    first = next(lines, None)
    if first is None:
        if not goes_on:
            raise UserError('Expected a text to ask about, as in `pairloom predict "hello"`.')
        # It begins by itself.
        first = ""
    return ({name: value_of(line, kind)} for line in chain([first], lines))


def input_kinds(client: "Client") -> dict[str, "Kind"]:
    """The model's inputs, or, where it has none, its output's beginning, to their kinds."""
    from pairloom.serving.client_values import field_kind

    description = client.describe()
    if description.inputs:
        return {field.name: field_kind(field) for field in description.inputs}
    [name] = client.metadata().signatures["serving_default"].inputs
    return {name: field_kind(description.output)}


def from_standard_input(words: Sequence[str]) -> Iterator[str] | None:
    """The lines of standard input, where they are what is asked; else None."""
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        return (line.rstrip("\r\n") for line in sys.stdin)
    return None


def value_of(word: str, kind: "Kind") -> Any:
    """A word as a value: the list that it holds as JSON, where such a list is one value.

    `["Hi.", "Hello!"]` is a conversation to a kind whose values are lists, and a text to others.
    """
    if word.lstrip().startswith("["):
        try:
            parsed = json.loads(word)
        except (ValueError, RecursionError):
            return word
        if kind.is_one(parsed):
            return parsed
    return word


def require_something(name: str, word: str) -> None:
    """Refuses an empty value.

    Raises:
        UserError: it is empty.
    """
    if not word.strip():
        raise UserError(f"Expected something to ask for the input `{name}`. Received: {word!r}.")


def _row(kinds: dict[str, "Kind"], fields: Sequence[str], goes_on: bool) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for entry in fields:
        name, equals, word = entry.partition("=")
        if not equals:
            raise UserError(f"Expected --field NAME=VALUE. Received: --field {entry}.")
        if name not in kinds:
            raise UserError(
                f"Expected --field with one of the model's inputs: {', '.join(kinds)}. "
                f"Received: {name}."
            )
        if name in row:
            raise UserError(f"Expected one --field for each input. Received: two for {name}.")
        if not goes_on:
            require_something(name, word)
        row[name] = value_of(word, kinds[name])
    missing = [name for name in kinds if name not in row]
    if missing:
        raise UserError(
            f"Expected --field for each of the model's inputs: {', '.join(kinds)}. "
            f"Left out: {', '.join(missing)}."
        )
    return row
