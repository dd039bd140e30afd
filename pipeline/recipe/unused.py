"""Settings that a recipe writes and that do nothing beside its other ones.

Not errors: `--set model.decoder.context=state` is a fair thing to say of a recipe that names a
score. Only what the user wrote is told, never a default.
"""

from collections.abc import Iterator
from typing import Any

from pairloom.pipeline.recipe.names import ATTENDING
from pairloom.pipeline.recipe.schema import Recipe

_OF_ATTENTION = ("score", "mode", "window", "heads", "style", "input_feeding")
_LOCAL = ("local_m", "local_p")


def unused_settings(recipe: Recipe, values: dict[str, Any]) -> Iterator[str]:
    """Tells of each reason which settings it leaves without effect.

    Args:
        recipe: As it was built.
        values: What the user wrote, file and overrides.
    """
    decoder: Any = recipe.model.decoder
    if decoder.type != "recurrent":
        return
    written = _section(values, "model", "decoder")
    if decoder.context not in ATTENDING:
        unused = [f"model.decoder.{name}" for name in _OF_ATTENTION if name in written]
        # Their default, 0, says what is so anyway.
        unused += ["training.coverage"] * (recipe.training.coverage > 0)
        penalty = getattr(recipe.search, "coverage_penalty", 0)
        unused += ["search.coverage_penalty"] * (penalty > 0)
        yield from _told(unused, f"`context: {decoder.context}`")
        return
    used = {
        "score": decoder.mode != "multi_head",
        "window": decoder.mode in _LOCAL,
        "heads": decoder.mode == "multi_head",
    }
    unused = [f"model.decoder.{name}" for name in used if name in written and not used[name]]
    yield from _told(unused, f"`mode: {decoder.mode}`")


def _told(unused: list[str], reason: str) -> Iterator[str]:
    if unused:
        names = ", ".join(f"`{name}`" for name in unused)
        yield f"{names}: without effect, for the recipe has {reason}."


def _section(values: dict[str, Any], *key: str) -> dict[str, Any]:
    for part in key:
        values = values.get(part) or {}
    return values
