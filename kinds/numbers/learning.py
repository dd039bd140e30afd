"""Mean and deviation of each number in a vector."""

import json
import math
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

__all__ = ["count", "learn"]


def count(values: Iterable[Any], table: MutableMapping[str, float]) -> None:
    """Adds up stored vectors: their widths, sums and squares, each under a name of its own."""
    for vector in values:
        table[f"width {len(vector)}"] += 1
        for place, number in enumerate(vector):
            table[f"sum {place}"] += float(number)
            table[f"square {place}"] += float(number) * float(number)


def learn(counts: Mapping[str, float], settings: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The mean and deviation of every place as JSON.

    Raises:
        ValueError: The vectors are not equally wide, or hold what is not finite.
    """
    del settings
    widths = {int(key.split()[1]): int(n) for key, n in counts.items() if key.startswith("width")}
    if len(widths) != 1:
        shown = ", ".join(f"{n:,} of {width}" for width, n in sorted(widths.items()))
        raise ValueError(
            f"Numbers must be equally many in every row. Received: rows {shown} numbers. "
            "State `width` in the field's settings, and rows of another width are rejected."
        )
    [(width, rows)] = widths.items()
    mean = [counts.get(f"sum {place}", 0.0) / rows for place in range(width)]
    if not all(map(math.isfinite, mean)):
        places = [place for place in range(width) if not math.isfinite(mean[place])]
        raise ValueError(f"Numbers must be finite. Received: others at the places {places}.")
    # The mean of the squares less the square of the mean, which rounding may take below 0.
    deviation = [
        math.sqrt(max(counts.get(f"square {place}", 0.0) / rows - mean[place] ** 2, 0.0))
        for place in range(width)
    ]
    learned = {"mean": mean, "deviation": deviation}
    return json.dumps(learned).encode(), {"width": width, "rows": rows}
