"""Files: finding them, opening them, and telling whether they have changed.

Paths are local, or, with a scheme as in `gs://`, whatever Apache Beam has a file system for.
"""

import difflib
import glob
import gzip
import hashlib
import io
import os
from typing import IO, Any

from pairloom.components.pairs.errors import DataError

__all__ = [
    "file_size",
    "find_files",
    "fingerprint",
    "is_gzip",
    "listing",
    "open_bytes",
    "open_raw",
]

GZIP = b"\x1f\x8b"
"""The first bytes of every gzip file, and of no valid UTF-8 text."""

HASHED_SIZE = 16 * 2**20
"""Larger files are told apart by size and time, not by content: reading them would take long."""


def find_files(source: Any, named: str) -> list[str]:
    """Lists the files of a path, a glob, or a list of them.

    Args:
        source: A path such as `a.tsv` or `parts/*.tsv.gz`, or a list.
        named: The recipe key it is from, for the error.

    Returns:
        Paths, sorted within each glob.
    """
    if isinstance(source, (list, tuple)):
        return [path for part in source for path in find_files(part, named)]
    if not isinstance(source, str) or not source:
        raise DataError(f"`{named}` must be a path, a glob, or a list. Received: {source!r}.")
    if "://" in source:
        match = _file_systems().match([source])[0].metadata_list
        found = sorted(file.path for file in match)
    elif os.path.isfile(source):
        found = [source]
    else:
        found = sorted(path for path in glob.glob(source, recursive=True) if os.path.isfile(path))
    if not found:
        raise DataError(_not_found(source, named))
    return found


def _not_found(source: str, named: str) -> str:
    message = f"`{named}`: no file `{source}`."
    if glob.has_magic(source):
        message = f"`{named}`: no file matches `{source}`."
    folder, name = os.path.split(source)
    if "://" in source:
        return message
    if not os.path.isdir(folder) and not glob.has_magic(folder):
        return f"{message} There is no folder `{folder}` either: check `data.folder`."
    if os.path.isdir(source):
        return f"{message} It is a folder: name a file in it, or a glob such as `{source}/*`."
    there = os.listdir(folder) if os.path.isdir(folder) else []
    near = difflib.get_close_matches(name, there, n=3, cutoff=0.6)
    if near:
        message += f" Did you mean {' or '.join(f'`{one}`' for one in near)}?"
    return message


def open_raw(path: str) -> IO[bytes]:
    """Opens a file for reading bytes from any place in it."""
    if "://" in path:
        systems = _file_systems()
        return systems.open(path, compression_type=_plain())
    return open(path, "rb", buffering=1 << 18)


def is_gzip(path: str) -> bool:
    """Whether a file is compressed; looks at the content, not at the name."""
    with open_raw(path) as file:
        return file.read(2) == GZIP


def open_bytes(path: str) -> IO[bytes]:
    """Opens a plain or gzip file for reading its content."""
    if is_gzip(path):
        return io.BufferedReader(gzip.GzipFile(fileobj=open_raw(path)), 1 << 18)
    return open_raw(path)


def file_size(path: str) -> int:
    """Bytes on disk."""
    if "://" in path:
        return _file_systems().match([path])[0].metadata_list[0].size_in_bytes
    return os.path.getsize(path)


def fingerprint(path: str) -> str:
    """A short text that is another one when the file has changed."""
    size = file_size(path)
    if size <= HASHED_SIZE:
        with open_raw(path) as file:
            return f"{path}:{size}:{hashlib.sha256(file.read()).hexdigest()}"
    if "://" in path:
        changed = _file_systems().last_updated(path)
    else:
        changed = os.stat(path).st_mtime_ns
    return f"{path}:{size}:{changed}"


def listing(folder: str) -> dict[str, str]:
    """Every file below a folder at a URL, with a text of its size and time."""
    pattern = folder.rstrip("/") + "/**"
    return {
        file.path: f"{file.size_in_bytes}:{file.last_updated_in_seconds}"
        for file in _file_systems().match([pattern])[0].metadata_list
    }


def _file_systems() -> Any:
    from apache_beam.io.filesystems import FileSystems

    return FileSystems


def _plain() -> str:
    from apache_beam.io.filesystem import CompressionTypes

    return CompressionTypes.UNCOMPRESSED
