"""Settings as plain values and as JSON: how the recipe's sections reach the components."""

import dataclasses
import json
from typing import Any


def plain(settings: Any) -> Any:
    """Dataclasses as mappings and tuples as lists, all the way down."""
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        return {f.name: plain(getattr(settings, f.name)) for f in dataclasses.fields(settings)}
    if isinstance(settings, dict):
        return {key: plain(value) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [plain(value) for value in settings]
    return settings


def section(settings: Any, ordered: bool = False) -> str:
    """A part of the recipe as JSON; equal settings give equal text, which TFX's cache compares.

    Args:
        settings: A section, or a mapping of sections.
        ordered: Whether the order of keys is part of the settings, and kept. That of the fields
            is: columns without names belong to them in turn.
    """
    return json.dumps(plain(settings), ensure_ascii=False, sort_keys=not ordered)


def told_recipe(recipe: Any) -> dict[str, Any]:
    """A whole recipe as plain values, without its file's name, places and schedule.

    It is what a run's report, and `pairloom runs --json`, know of it.
    """
    told: dict[str, Any] = plain(recipe)
    # Equal settings give equal text, which TFX's cache compares; only the fields' order matters.
    return {
        name: value if name == "fields" else json.loads(section(value))
        for name, value in told.items()
        if name not in ("file", "notes", "places", "schedule")
    }
