"""How many fields a format fills, and with what."""

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.settings import PairSettings

__all__ = ["require_fields"]

_COUNTS = {1: "one field", 2: "two fields"}


def require_fields(format_name: str, settings: PairSettings, *held: str, least: int = 0) -> None:
    """Raises where a recipe has not as many fields as a format fills.

    Args:
        format_name: The format.
        settings: With the fields of the recipe.
        *held: What each field holds, in order.
        least: How many of them a recipe must have at least; 0: all.

    Raises:
        DataError: saying what the fields would hold.
    """
    least = least or len(held)
    if least <= len(settings.fields) <= len(held):
        return
    counts = " or ".join(_COUNTS[count] for count in range(least, len(held) + 1))
    raise DataError(
        f"The format `{format_name}` has {counts}: {', '.join(held)}. "
        f"Received: fields={list(settings.fields)}."
    )
