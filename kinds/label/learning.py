"""The labels of the train split, most frequent first."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MOST", "count", "learn"]

MOST = 100_000


def count(values: Iterable[bytes], table: Counter[str]) -> None:
    """Counts stored values."""
    table.update(value.decode() for value in values)


def learn(counts: Mapping[str, int], settings: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The labels as JSON, and how many there are.

    Raises:
        ValueError: There is but one label, or so many that they can be none.
    """
    del settings
    if len(counts) < 2:
        raise ValueError(
            f"A label must be one of at least two in the train split. Received: {list(counts)}."
        )
    if len(counts) > MOST:
        raise ValueError(
            f"Labels must be at most {MOST:,}. Received: {len(counts):,} different ones; "
            "is this a field of texts?"
        )
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    summary = {"labels": len(ranked), "first": {label: counts[label] for label in ranked[:20]}}
    return json.dumps(ranked, ensure_ascii=False).encode(), summary
