"""Rows that stay together in a split by a part of a value: `data.split_match`.

Of `fight/cam1/7.mp4` and `fight/cam2/7.mp4`, `(.*)/cam\\d/(\\d+)` finds `fight` and `7` in both:
two cameras filmed one scene, and a test of one must not be trained on with the other.
"""

import re
from collections.abc import Iterable, Iterator

from pairloom.components.pairs.rows import Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["keyed_rows"]


def keyed_rows(
    rows: Iterable[Row | Rejection], settings: PairSettings
) -> Iterator[Row | Rejection]:
    """Gives rows the keys that `split_match` finds; those where it finds nothing are rejected.

    A key is what the expression's groups hold, or, where it has none, all that it matches.
    """
    if not settings.split_match:
        yield from rows
        return
    find, at = re.compile(settings.split_match).search, settings.split_by
    for row in rows:
        if isinstance(row, Row):
            text = _text(row.values[at])
            found = find(text)
            if found is None:
                field, raw = settings.fields[at], shown(row.values[at])
                yield Rejection(row.file, row.line, f"{field} does not match split_match", raw)
                continue
            parts = found.groups() or (found.group(),)
            row = row._replace(key="\0".join(part or "" for part in parts).encode())
        yield row


def _text(raw: object) -> str:
    return raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
