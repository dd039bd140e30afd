"""The files behind rows: those whose paths the rows hold."""

import hashlib
import json
import os
from collections.abc import Iterator

from pairloom.components.pairs.file_values import place_of_value
from pairloom.components.pairs.files import listing
from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.rows import Chunk, Row
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.values import file_folders
from pairloom.kinds import FieldError
from pairloom.kinds.reading import read_text

__all__ = ["fingerprint_behind"]


def fingerprint_behind(chunks: list[Chunk], settings: PairSettings) -> str:
    """A text that is another one when a file behind a row was changed, added or taken away.

    Files are told apart by size and time: reading them all would take as long as the run.

    Args:
        chunks: All rows.
        settings: What they are read with.
    """
    digest = hashlib.sha256()
    for place, told in _told(chunks, settings):
        digest.update(json.dumps([place, told]).encode())
    return digest.hexdigest()


def _told(chunks: list[Chunk], settings: PairSettings) -> Iterator[tuple[str, str]]:
    """Each file once, with its size and time; those that nobody can reach say so."""
    listed = {folder: listing(folder) for folder in {*file_folders(settings)} if "://" in folder}
    for raw, number, folder in _paths(chunks, settings):
        kind, options = settings.kinds[number], settings.field_options[number]
        try:
            said = read_text(raw, settings.max_length)
            place, _ = place_of_value(said, kind, options, folder)
        except FieldError:
            # Rejected where it is read as a row.
            continue
        yield place, listed[folder].get(place, "missing") if folder in listed else _local(place)


def _paths(chunks: list[Chunk], settings: PairSettings) -> Iterator[tuple[bytes | str, int, str]]:
    """Each path as rows have it once, with its field's number and where it starts."""
    fields = [number for number, kind in enumerate(settings.kinds) if kind.is_file]
    form, folders = find_format(settings.format), file_folders(settings)
    seen: set[tuple[int, bytes | str]] = set()
    for row in (row for chunk in chunks for row in form.rows(chunk, settings)):
        if not isinstance(row, Row):
            continue
        for number in fields:
            raw = row.values[number]
            if isinstance(raw, (bytes, str)) and (number, raw) not in seen:
                seen.add((number, raw))
                yield raw, number, folders[number]


def _local(place: str) -> str:
    try:
        found = os.stat(place)
    except OSError as error:
        return type(error).__name__
    return f"{found.st_size}:{found.st_mtime_ns}"
