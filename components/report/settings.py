"""Settings as a flat list: `training.epochs` to 3, as `--set` writes them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["MISSING", "differences", "flat"]

MISSING = "–"
"""What stands for a setting that one of two runs has not."""


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Every setting by its dotted name.

    >>> flat({"training": {"epochs": 3}, "inputs": ["source"]})
    {'training.epochs': 3, 'inputs': ['source']}
    """
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The settings that are not the same in both, each with its two values.

    >>> differences({"training": {"epochs": 3}}, {"training": {"epochs": 4}, "schema": "a"})
    {'training.epochs': (3, 4), 'schema': ('–', 'a')}
    """
    left, right = flat(one), flat(other)
    names = dict.fromkeys([*left, *right])
    return {
        name: (left.get(name, MISSING), right.get(name, MISSING))
        for name in names
        if left.get(name, MISSING) != right.get(name, MISSING)
    }
