"""The date of a run, and paths that hold it: `pairs-{DATE}.tsv`, `span-{SPAN}/*.gz`."""

import argparse
import dataclasses
import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from pairloom.pipeline.recipe import Recipe

__all__ = ["as_date", "dated", "dated_recipe", "dated_section", "is_dated"]

_EPOCH = date(1970, 1, 1)
_PATHS = ("folder", "train", "eval", "test")


def dated(text: str, day: date) -> str:
    """Fills in a date.

    Args:
        text: `{DATE}` in it becomes 2026-11-17, `{SPAN}` the days since 1970, as TFX counts spans.
        day: The date of the run.
    """
    return text.replace("{DATE}", day.isoformat()).replace("{SPAN}", str((day - _EPOCH).days))


def is_dated(text: str) -> bool:
    """Whether a text holds a date to be filled in."""
    return "{DATE}" in text or "{SPAN}" in text


def dated_recipe(recipe: Recipe, day: date) -> Recipe:
    """A recipe whose data are those of a date."""
    paths = {name: getattr(recipe.data, name) for name in _PATHS}
    data = dataclasses.replace(recipe.data, **_all_filled(paths, day))
    return dataclasses.replace(recipe, data=data)


def dated_section(data: str, day: date) -> str:
    """The same of a recipe's section `data` in JSON, as nodes are told it."""
    told = json.loads(data)
    paths = {name: told[name] for name in _PATHS if name in told}
    return json.dumps({**told, **_all_filled(paths, day)}, ensure_ascii=False, sort_keys=True)


def as_date(text: str) -> date | None:
    """A date of a command line; None where it is empty, as a scheduler may leave it."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a date as 2026-11-17, received {text!r}"
        ) from None


def _all_filled(paths: Mapping[str, Any], day: date) -> dict[str, Any]:
    return {name: _filled(value, day) for name, value in paths.items()}


def _filled(value: Any, day: date) -> Any:
    if isinstance(value, str):
        return dated(value, day)
    if isinstance(value, (list, tuple)):
        return type(value)(dated(one, day) for one in value)
    return {key: dated(one, day) for key, one in value.items()} if value else value
