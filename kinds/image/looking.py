"""Whether values look like paths of pictures, and what suits these."""

from collections.abc import Sequence
from typing import Any

from pairloom.kinds.looking import Advice, Size

__all__ = ["CALLED", "fits", "suggest"]

CALLED = "photo"

_ENDINGS = (".jpg", ".jpeg", ".jpe", ".png", ".gif", ".bmp")
_SIDE = 128
# The most that a look at one's own photos should take.
_MINUTES = 30


def fits(values: Sequence[Any], written: str = "") -> tuple[float, str]:
    """Strings that end as names of pictures do are."""
    del written
    named = [isinstance(value, str) and value.lower().endswith(_ENDINGS) for value in values]
    # A few that do not are rejected by a run.
    if sum(named) < 0.9 * len(named):
        return 0.0, "not names of pictures"
    return 0.95, f"names of pictures, as {values[named.index(True)]}"


def suggest(values: Sequence[Any], size: Size, source: str | None = None) -> Advice:
    """Settings for a convolutional network that is trained from the start."""
    del source
    return Advice(
        described="pictures; `flip: true` where left and right do not matter",
        options={"height": _SIDE, "width": _SIDE, "flip": False, "crop": 0.15, "color": 0.2},
        encoder={"type": "image", "backbone": "residual", "units": size.units},
        training={"minutes": _MINUTES},
        places=1,
        longest=max(map(len, map(str, values))),
    )
