"""Whether values look like labels, and what suits these labels."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pairloom.kinds.looking import Advice, Size

__all__ = ["fits", "suggest"]

_MOST_LABELS = 100
_MOST_CHARACTERS = 60
_MOST_WORDS = 5
# How often each must come on average: texts come back by chance, too.
_TIMES = 10


def fits(values: Sequence[Any], written: str = "") -> tuple[float, str]:
    """Few short values that come again and again are."""
    del written
    if not all(isinstance(value, (str, bool, int, float)) for value in values):
        return 0.0, "not all of them strings or numbers"
    counts = Counter(str(value).strip() for value in values)
    told = f"{len(counts):,} different values in {len(values):,} rows"
    if len(counts) < 2:
        return 0.0, f"all alike, {next(iter(counts), '')[:20]!r}"
    if len(counts) > _MOST_LABELS or len(counts) * _TIMES > len(values):
        return 0.0, told
    if any(len(name) > _MOST_CHARACTERS or len(name.split()) > _MOST_WORDS for name in counts):
        return 0.0, f"{told}, but long ones"
    first = ", ".join(name for name, _ in counts.most_common(3))
    return 0.8, f"{told} ({first}{', ...' if len(counts) > 3 else ''})"


def suggest(values: Sequence[Any], size: Size, source: str | None = None) -> Advice:
    """Settings for a classifier of what has this form."""
    counts = Counter(str(value).strip() for value in values)
    most = max(counts.values()) / len(values)
    # A vector is one place: there is nothing to weigh.
    context = "summary" if source in ("", "vectors") else "pooling"
    return Advice(
        described=f"{len(counts)} labels, the most frequent in {most:.0%} of the rows",
        decoder={
            "type": "classes",
            "context": context,
            "units": size.units,
            "dropout": size.dropout,
        },
        asked={"context": "attention"},
        metrics={"accuracy": "accuracy", "macro_f1": "macro_f1"},
        threshold=f"at_least: {min(99, round(100 * most) + 1)}",
        tolerance=1,
        places=1,
        longest=max(map(len, counts)),
    )
