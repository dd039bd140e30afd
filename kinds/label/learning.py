"""The labels of the train split, most frequent first."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["LARGEST", "MOST", "count", "learn"]

MOST = 10_000
"""Labels, for every answer carries the name and the probability of each."""

LARGEST = 500_000
"""Bytes of all names: a model's description lists them, and a server reads 1 MiB of that."""


def count(values: Iterable[bytes], table: Counter[str]) -> None:
    """Counts stored values."""
    table.update(value.decode() for value in values)


def learn(counts: Mapping[str, int], settings: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The labels as JSON, and how many there are.

    Raises:
        ValueError: There is but one label, or there are too many, or too long ones.
    """
    del settings
    if len(counts) < 2:
        raise ValueError(
            f"A label must be one of at least two in the train split. Received: {list(counts)}."
        )
    if len(counts) > MOST:
        raise ValueError(
            f"Labels must be at most {MOST:,}, for every answer carries all of them. Received: "
            f"{len(counts):,} different ones. Is it a field of texts (`kind: text`)? If not, give "
            "rare labels one name in common."
        )
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    learned = json.dumps(ranked, ensure_ascii=False).encode()
    if len(learned) > LARGEST:
        raise ValueError(
            f"The names of all labels must take at most {LARGEST:,} bytes, for a model's "
            f"description lists them. Received: {len(learned):,} bytes in {len(ranked):,} labels. "
            "Shorten the names, or give rare labels one in common."
        )
    summary = {"labels": len(ranked), "first": {label: counts[label] for label in ranked[:20]}}
    return learned, summary
