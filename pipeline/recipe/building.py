"""From plain values to dataclasses: one walk over the fields and their types."""

import dataclasses
import types
import typing
from collections.abc import Callable, Collection, Mapping
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pairloom.pipeline.recipe.document import Document, Key
from pairloom.pipeline.recipe.errors import RecipeError, nearest_name

_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    date: "a date as 2026-11-17",
}
_LIMITS = {
    "at_least": ("at least", lambda value, limit: value >= limit),
    "at_most": ("at most", lambda value, limit: value <= limit),
    "above": ("above", lambda value, limit: value > limit),
    "below": ("below", lambda value, limit: value < limit),
}


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A section whose class is chosen by one of its keys: `Annotated[Any, Chosen("type", known)]`.

    Attributes:
        key: The key.
        known: Gives the classes by what the key may say; asked when a recipe is read.
        default: Of the key; empty: a section without the key is left `Open`.
    """

    key: str
    known: Callable[[], Mapping[str, type]]
    default: str = ""


@dataclasses.dataclass(frozen=True)
class Open:
    """A section that does not say what chooses its class: `choose`, for whoever knows what fits."""

    values: Any


class _Others(NamedTuple):
    """What a section is not: the key that chose, what it says, and what else it may say."""

    key: str
    chosen: str
    classes: Mapping[str, type]


class _Mismatch(Exception):
    """A value that is not of the wanted type; turned into a RecipeError by whoever asked."""


def build(
    cls: type,
    values: Any,
    document: Document,
    key: Key = (),
    others: "_Others | None" = None,
) -> Any:
    """Makes a `cls` from a mapping.

    Args:
        cls: A dataclass; its fields' types may be scalars, Literals, dataclasses, unions,
            `tuple[X, ...]` and `dict[str, X]`; or `Annotated[Any, Chosen(...)]`, one of several
            dataclasses.
        values: What the recipe says there; None counts as an empty mapping.
        document: Gives errors their file and line.
        key: Where in the recipe `values` stands.
        others: What another `type` or `kind` would have chosen.

    Raises:
        RecipeError: an unknown or missing key, a wrong type, a value out of its limits.
    """
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise document.error(key, "a mapping of keys", _shown(values))
    hints = typing.get_type_hints(cls, include_extras=True)
    known = {f.name: f for f in dataclasses.fields(cls) if not f.metadata.get("internal")}
    for name in values:
        if name not in known:
            raise _unknown_key(name, known, others, document, key)
    arguments = {}
    for name, spec in known.items():
        if name in values:
            arguments[name] = _value(hints[name], values[name], document, (*key, name))
            _check_limits(arguments[name], spec.metadata, document, (*key, name))
        elif spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING:
            wanted = described(hints[name])
            raise document.error((*key, name), wanted, "nothing: the key is missing")
    return cls(**arguments)


def _unknown_key(
    name: Any,
    known: Collection[str],
    others: _Others | None,
    document: Document,
    key: Key,
) -> RecipeError:
    expected = f"one of the keys {', '.join(known)}"
    for other, cls in others.classes.items() if others else ():
        assert others is not None
        if name in {spec.name for spec in dataclasses.fields(cls)}:
            section = f"{'.'.join(key)}={{{others.key}: {others.chosen}, ...}}"
            expected += f"; --set '{section}' replaces the section"
            received = f"`{name}`, which belongs to the {others.key} {other}"
            return document.error((*key, name), expected, received)
    near = nearest_name(name, known)
    return document.error((*key, str(name)), expected, f"the unknown key `{name}`", near)


def described(wanted: Any) -> str:
    """A type in a user's words: `Literal["a", "b"]` is `a or b`."""
    if wanted in _WORDS:
        return _WORDS[wanted]
    if wanted is type(None):
        return "null"
    if dataclasses.is_dataclass(wanted):
        return f"a mapping with the keys {', '.join(f.name for f in dataclasses.fields(wanted))}"
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return f"a mapping with a `{arguments[1].key}`"
    if origin is Literal:
        return " or ".join(str(a) for a in arguments)
    if origin in (Union, types.UnionType):
        return ", or ".join(described(a) for a in arguments)
    if origin is tuple:
        return f"a list of {described(arguments[0])}"
    if origin is dict:
        return "a mapping"
    return "a value"


def _value(wanted: Any, value: Any, document: Document, key: Key) -> Any:
    try:
        return _converted(wanted, value, document, key)
    except _Mismatch:
        choices = [str(c) for c in get_args(wanted)] if get_origin(wanted) is Literal else []
        near = nearest_name(str(value), choices)
        raise document.error(key, described(wanted), _shown(value), near) from None


def _converted(wanted: Any, value: Any, document: Document, key: Key) -> Any:
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return value
    if origin is Annotated:
        return _chosen(arguments[1], value, document, key)
    if dataclasses.is_dataclass(wanted):
        return build(wanted, value, document, key)  # type: ignore[arg-type]
    if origin is Literal:
        return _literal(arguments, value)
    if origin in (Union, types.UnionType):
        return _union(arguments, value, document, key)
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_converted(arguments[0], item, document, key) for item in value)
    if origin is dict and isinstance(value, dict):
        return {
            str(name): _value(arguments[1], item, document, (*key, str(name)))
            for name, item in value.items()
        }
    return _scalar(wanted, value)


def _literal(choices: tuple[Any, ...], value: Any) -> Any:
    # YAML 1.1 reads an unquoted `none` as text but `null`, `~` and nothing as None.
    if value is None and "none" in choices:
        return "none"
    if isinstance(value, str) and value in choices:
        return value
    raise _Mismatch


def _union(arguments: tuple[Any, ...], value: Any, document: Document, key: Key) -> Any:
    for argument in arguments:
        if argument is type(None):
            if value is None:
                return None
            continue
        try:
            return _converted(argument, value, document, key)
        except _Mismatch:
            continue
    raise _Mismatch


def _chosen(choice: Chosen, value: Any, document: Document, key: Key) -> Any:
    """Builds the one of several dataclasses that the mapping's `type` or `kind` names."""
    known = choice.known()
    if isinstance(value, dict) and choice.key in value:
        name = value[choice.key]
        if not isinstance(name, str) or name not in known:
            near = nearest_name(str(name), known)
            raise document.error((*key, choice.key), " or ".join(known), _shown(name), near)
    elif choice.default:
        name = choice.default
    else:
        return Open(value)
    return choose(choice.key, name, known, value, document, key)


def choose(
    by: str, name: str, known: Mapping[str, type], values: Any, document: Document, key: Key
) -> Any:
    """Builds a section as the one of several dataclasses that `name` is.

    Args:
        by: The key that says which: `type`, `kind`.
        name: What it says, or would.
        known: The classes by what it may say.
        values: What the section says.
        document: Where it says so, for errors.
        key: The section's place in there.
    """
    classes = {other: cls for other, cls in known.items() if other != name}
    return build(known[name], values, document, key, _Others(by, name, classes))


def _scalar(wanted: Any, value: Any) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted is float and isinstance(value, str):
        # YAML 1.1 takes `1e-3`, which has no dot, for text.
        try:
            return float(value)
        except ValueError:
            raise _Mismatch from None
    if wanted is float and is_number:
        return float(value)
    if wanted is int and is_number and float(value).is_integer():
        return int(value)
    if wanted in (str, bool, date) and isinstance(value, wanted):
        return value
    raise _Mismatch


def _check_limits(value: Any, limits: Any, document: Document, key: Key) -> None:
    if not isinstance(value, (int, float)):
        return
    for name, (words, holds) in _LIMITS.items():
        if name in limits and not holds(value, limits[name]):
            raise document.error(key, f"a number {words} {limits[name]}", _shown(value))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
