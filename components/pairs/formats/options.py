"""A format's own settings: which there are, of what type, and what is wrong with those given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pairloom.components.pairs.errors import DataError

__all__ = ["Option", "WrongOption", "option_values", "require_options", "wrong_options"]

_WORDS = {bool: "true or false", int: "a whole number", str: "a text"}


@dataclass(frozen=True)
class Option:
    """One key of `data.options`.

    Attributes:
        default: What counts where the key is not given; its type is the option's.
        at_least: The smallest number allowed; for texts 1: not an empty one.
        at_most: The largest number allowed.
    """

    default: bool | int | str
    at_least: int | None = None
    at_most: int | None = None

    @property
    def expected(self) -> str:
        """What the option takes, in a user's words."""
        words = _WORDS[type(self.default)]
        if self.at_least is not None:
            at_least = f" of at least {self.at_least}"
            words += " that is not empty" if isinstance(self.default, str) else at_least
        return words if self.at_most is None else f"{words}, at most {self.at_most}"

    def takes(self, value: Any) -> bool:
        """Whether the option can have this value."""
        # Not isinstance: True is an int.
        if type(value) is not type(self.default):
            return False
        size = len(value) if isinstance(value, str) else value
        return (self.at_least is None or size >= self.at_least) and (
            self.at_most is None or size <= self.at_most
        )


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


def option_values(known: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a format: those given, and the defaults of the others."""
    return {**{name: option.default for name, option in known.items()}, **given}


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
