"""Values that are files: from the path in a row to the bytes, which the kind then judges."""

import os
import posixpath
import stat
from collections.abc import Mapping
from typing import Any

from pairloom.components.pairs.files import file_size, open_raw
from pairloom.kinds import FieldError, Kind
from pairloom.kinds.files import FileContent, find_part
from pairloom.kinds.reading import read_text

__all__ = ["FileReader", "place_of", "place_of_value"]


class FileReader:
    """Reads a field of files, as `kind.read` does one of other values.

    What the last path gave is kept, and what its file was opened as: rows about one file mostly
    stand together.

    Args:
        kind: A kind with `is_file`.
        folder: Where paths start: a folder or URL, absolute.
    """

    def __init__(self, kind: Kind, folder: str):
        self._kind, self._folder = kind, folder
        self._path: Any = None
        self._given: Any = None
        self._place = ""
        self._opened: Any = None

    def __call__(self, raw: Any, options: Mapping[str, Any], max_length: int) -> Any:
        if self._path is None or raw != self._path:
            try:
                self._given = self._read(raw, options, max_length)
            except FieldError as error:
                self._given = error
            self._path = raw
        if isinstance(self._given, FieldError):
            raise self._given
        return self._given

    def _read(self, raw: Any, options: Mapping[str, Any], max_length: int) -> Any:
        said = read_text(raw, max_length)
        place, part = place_of_value(said, self._kind, options, self._folder)
        content = self._open(place, options)
        if isinstance(content, FieldError):
            raise content
        return self._kind.read(FileContent(said, content, part), dict(options), max_length)

    def _open(self, place: str, options: Mapping[str, Any]) -> Any:
        """What is in a file, or why nothing is."""
        if place != self._place:
            try:
                content = read_file(place, options["most_bytes"])
                self._opened = self._kind.opened(content, options)
            except FieldError as error:
                self._opened = error
            self._place = place
        return self._opened


def place_of_value(
    said: str, kind: Kind, options: Mapping[str, Any], folder: str
) -> tuple[str, str]:
    """Where what a row holds leads, and to which part of the file there.

    Raises:
        FieldError: Out of the folder, or nowhere that a file can be.
    """
    file, part = find_part(said, options["path"], kind.has_parts)
    return place_of(file, folder), part


def place_of(path: str, folder: str) -> str:
    """Where a row's path leads.

    Raises:
        FieldError: Out of the folder, or nowhere that a file can be.
    """
    if "\0" in path:
        raise FieldError("is no path: it holds a NUL")
    if "://" in folder or "://" in path:
        return _remote_place(path, folder)
    place = os.path.realpath(os.path.join(folder, path))
    home = os.path.realpath(folder)
    if os.path.commonpath([place, home]) != home:
        raise FieldError(f"leads out of the folder, `{folder}`")
    return place


def _remote_place(path: str, folder: str) -> str:
    scheme, _, home = folder.rpartition("://")
    asked_scheme, _, asked = path.rpartition("://")
    home = posixpath.normpath(home)
    place = posixpath.normpath(asked if asked_scheme else posixpath.join(home, path))
    inside = place.startswith(home + "/") and asked_scheme in ("", scheme)
    if not inside:
        raise FieldError(f"leads out of the folder, `{folder}`")
    return f"{scheme}://{place}"


def read_file(place: str, most_bytes: int) -> bytes:
    """All bytes of a file whose size allows it.

    Raises:
        FieldError: It is missing, no file, empty, too large, or cannot be read.
    """
    size = _size(place)
    if size == 0:
        raise FieldError("is an empty file")
    if size > most_bytes:
        raise FieldError(f"is a file of {size:,} bytes, more than the {most_bytes:,} allowed")
    try:
        with open_raw(place) as file:
            # One that has grown since is cut off, and then broken.
            return file.read(most_bytes)
    except OSError as error:
        raise FieldError(f"cannot be read: {error.strerror or error}") from None


def _size(place: str) -> int:
    try:
        if "://" in place:
            return file_size(place)
        found = os.stat(place)
    except (FileNotFoundError, NotADirectoryError, IndexError):
        raise FieldError("is missing: no such file") from None
    except OSError as error:
        raise FieldError(f"cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(found.st_mode):
        raise FieldError("is no file")
    return found.st_size
