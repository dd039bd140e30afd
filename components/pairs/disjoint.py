"""What a test asks for must not be trained on: `data.disjoint`."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.plan import plan_chunks, sources_fingerprint
from pairloom.components.pairs.rows import Rejection, Row
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.split_keys import keyed_rows
from pairloom.components.pairs.values import Reader, readers
from pairloom.kinds import FieldError

__all__ = ["HeldOut"]

_known: dict[str, frozenset[bytes]] = {}


class HeldOut:
    """The keys of all rows that are in `eval` or `test` by their file or by their fold.

    A row's key is its own (a conversation's) or that of its `split_by` value. Files are read once
    in a process, and again when they have changed; 16 bytes a key are kept.

    Args:
        settings: What is read.
    """

    def __init__(self, settings: PairSettings):
        named = settings if settings.fold else _without_train(settings)
        version = f"{settings!r}\n{sources_fingerprint(named)}"
        keys = _known.get(version)
        if keys is None:
            keys = frozenset(_keys(named))
            # One at a time: a worker reads one data set.
            _known.clear()
            _known[version] = keys
        self._keys = keys

    def __contains__(self, key: bytes) -> bool:
        return _digest(key) in self._keys


def _keys(settings: PairSettings) -> Iterator[bytes]:
    reader = readers(settings)[settings.split_by]
    for chunk in plan_chunks(settings, chunk_bytes=2**62):
        for row in keyed_rows(find_format(settings.format).rows(chunk, settings), settings):
            if isinstance(row, Rejection) or (chunk.split == "train" and row.split is None):
                continue
            key = _key(row, settings, reader)
            if key is not None:
                yield _digest(key)


def _key(
    row: Row, settings: PairSettings, reader: tuple[Reader, Mapping[str, Any]]
) -> bytes | None:
    if row.key is not None:
        return row.key
    at, (read, options) = settings.split_by, reader
    try:
        return settings.kinds[at].key(read(row.values[at], options, settings.max_length))
    except FieldError:
        # Rejected where it is read as a row.
        return None


def _digest(key: bytes) -> bytes:
    return hashlib.blake2b(key, digest_size=16).digest()


def _without_train(settings: PairSettings) -> PairSettings:
    sources = {name: source for name, source in settings.sources.items() if name != "train"}
    return replace(settings, sources=sources)
