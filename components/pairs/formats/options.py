"""A format's own settings: which there are, of what type, and what is wrong with those given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pairloom.components.pairs.errors import DataError

__all__ = ["Option", "WrongOption", "require_options", "wrong_options"]

_WORDS = {bool: "true or false", int: "a whole number"}


@dataclass(frozen=True)
class Option:
    """One key of `data.options`.

    Attributes:
        default: What counts where the key is not given; its type is the option's.
        at_least: The smallest number allowed, if there is one.
    """

    default: bool | int
    at_least: int | None = None

    @property
    def expected(self) -> str:
        """What the option takes, in a user's words."""
        words = _WORDS[type(self.default)]
        return words if self.at_least is None else f"{words} of at least {self.at_least}"

    def takes(self, value: Any) -> bool:
        """Whether the option can have this value."""
        # Not isinstance: True is an int.
        if type(value) is not type(self.default):
            return False
        return self.at_least is None or value >= self.at_least


class WrongOption(NamedTuple):
    """An option that a format does not know, or a value that it cannot take."""

    name: str
    expected: str
    received: str


def wrong_options(
    format_name: str, known: Mapping[str, Option], given: Mapping[str, Any]
) -> Iterator[WrongOption]:
    """Compares `data.options` with what a format has."""
    for name, value in given.items():
        if name in known:
            if not known[name].takes(value):
                yield WrongOption(name, known[name].expected, repr(value))
        elif known:
            expected = f"one of the options of {format_name}: {', '.join(known)}"
            yield WrongOption(name, expected, f"the unknown option `{name}`")
        else:
            expected = f"nothing: {format_name} has no options"
            yield WrongOption(name, expected, f"the unknown option `{name}`")


def require_options(
    format_name: str, known: Mapping[str, Option], given: Mapping[str, Any]
) -> None:
    """Raises where an option is wrong.

    Raises:
        DataError: naming the first one, what was expected and what was received.
    """
    for wrong in wrong_options(format_name, known, given):
        raise DataError(
            f"`data.options.{wrong.name}` must be {wrong.expected}. Received: {wrong.received}."
        )
