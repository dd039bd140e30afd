"""From a chunk to checked pairs, each with its split."""

import hashlib
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

from pairloom.components.kinds import FieldError
from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.rows import SHOWN, Chunk, Pair, Rejection, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["hashed_share", "read_pairs"]


def hashed_share(key: bytes) -> float:
    """A number in [0, 1) that looks random and depends on the key alone."""
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") / 2**64


def read_pairs(chunk: Chunk, settings: PairSettings) -> Iterator[Pair | Rejection]:
    """Reads and checks the rows of a chunk.

    With shares of 0.1 for `eval` and 0.2 for `test`, a pair of the train section whose `split_by`
    value hashes to less than 0.1 goes to `eval`, to less than 0.3 to `test`, and else to `train`.

    Yields:
        A `Pair` or a `Rejection` for each row, in the order of the file.
    """
    readers = [kind.read for kind in settings.kinds]
    limit, split_by = settings.max_length, settings.split_by
    key_of = settings.kinds[split_by].key
    shares = settings.shares if chunk.split == "train" else {}
    bounds = list(accumulate(shares.values()))
    splits = [*shares, chunk.split]
    for row in find_format(settings.format).rows(chunk, settings):
        if isinstance(row, Rejection):
            yield row
            continue
        file, line, raw = row
        values: list[object] = []
        try:
            for read, value in zip(readers, raw, strict=True):
                values.append(read(value, limit))
        except FieldError as error:
            # Parallel files: the file that holds the bad side is the one to name.
            bad = len(values)
            if len(chunk.files) > 1:
                file = chunk.files[bad]
            reason = f"{settings.fields[bad]} {error}"
            yield Rejection(file, line, reason, "\t".join(map(shown, raw))[:SHOWN])
            continue
        share = hashed_share(key_of(values[split_by])) if bounds else 0.0
        yield Pair(file, line, splits[bisect(bounds, share)], tuple(values))
