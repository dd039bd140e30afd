"""Files and folders on a disk or at a URL: the one module that tells the two apart.

On a disk Python alone does the work: whoever should answer at once must not import TensorFlow. At a
URL, as `gs://bucket/folder`, it is whatever TensorFlow has a file system for, imported with the
first one that comes. What fails there is an OSError too.
"""

import contextlib
import fnmatch
import glob
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = [
    "changed",
    "exist",
    "exists",
    "find",
    "is_url",
    "listed",
    "make_folder",
    "read_bytes",
    "read_text",
    "remove",
    "size",
    "write_once",
]

_SCHEME = "://"
# For a line of text, once its file is there.
_WRITING_SECONDS = 2.0


def is_url(path: str) -> bool:
    """Whether a path is not on a disk: there are no locks there, and no folder is renamed at once.

    >>> is_url("gs://bucket/pairs"), is_url("/pairs")
    (True, False)
    """
    return _SCHEME in path


def exists(path: str) -> bool:
    """Whether there is such a file or folder."""
    if not is_url(path):
        return os.path.exists(path)
    with _as_of_a_disk():
        return bool(_gfile().exists(path))


def changed(path: str) -> float:
    """When a file or folder was written last, in seconds since 1970; 0: it is not there."""
    try:
        if not is_url(path):
            return os.stat(path).st_mtime
        with _as_of_a_disk():
            return float(_gfile().stat(path).mtime_nsec) / 1e9
    except FileNotFoundError:
        return 0.0


def size(path: str) -> int:
    """How many bytes a file has; 0: it is not there."""
    try:
        if not is_url(path):
            return os.path.getsize(path)
        with _as_of_a_disk():
            return int(_gfile().stat(path).length)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def exist(paths: Iterable[str]) -> dict[str, bool]:
    """Whether there are such files or folders, by path; each folder that holds some is read once.

    A store at a URL takes a moment for every question, and thousands of artifacts lie in few
    folders.
    """
    names: dict[str, set[str]] = {}
    found = {}
    for path in paths:
        folder, name = os.path.split(path.rstrip("/"))
        if folder not in names:
            names[folder] = set(listed(folder))
        found[path] = name in names[folder]
    return found


def listed(folder: str) -> list[str]:
    """The names in a folder, sorted; none where it is not there."""
    try:
        if not is_url(folder):
            return sorted(os.listdir(folder))
        with _as_of_a_disk():
            # Names of folders may end in a slash, and a store may list a folder's own mark.
            names = {name.rstrip("/") for name in _gfile().listdir(folder)}
            return sorted(names - {""})
    except (FileNotFoundError, NotADirectoryError):
        return []


def find(pattern: str) -> list[str]:
    """The files and folders that a glob matches, sorted; `*` leaves out what begins with a dot.

    Args:
        pattern: A path; what `glob.escape` gives stands for itself.
    """
    if not is_url(pattern):
        return sorted(glob.glob(pattern))
    # Level by level: to match a pattern a store would list all that lies below its first star.
    scheme, _, rest = pattern.partition(_SCHEME)
    first, *parts = rest.split("/")
    found = [f"{scheme}{_SCHEME}{first}"]
    for part in parts:
        found = [f"{folder}/{name}" for folder in found for name in _matching(folder, part)]
    return sorted(found) if glob.has_magic(parts[-1]) else sorted(filter(exists, found))


def _matching(folder: str, part: str) -> list[str]:
    if not glob.has_magic(part):
        return [part]
    hidden = part.startswith(".")
    names = fnmatch.filter(listed(folder), part)
    return [name for name in names if name.startswith(".") == hidden]


def read_bytes(path: str) -> bytes:
    """A file's content."""
    if not is_url(path):
        with open(path, "rb") as file:
            return file.read()
    with _as_of_a_disk(), _gfile().GFile(path, "rb") as file:
        return bytes(file.read())


def read_text(path: str) -> str:
    """A file's content, which is UTF-8."""
    return read_bytes(path).decode("utf-8")


def write_once(path: str, text: str) -> str:
    """Writes a file, with its folder, unless it is there.

    On a disk the first of several gets its way. At a URL, of those that come at the same moment,
    the last.

    Returns:
        What stands there now.
    """
    make_folder(os.path.dirname(path))
    if not is_url(path):
        _write_file_once(path, text)
    elif not exists(path):
        with _as_of_a_disk(), _gfile().GFile(path, "w") as file:
            file.write(text)
    return read_text(path)


def _write_file_once(path: str, text: str) -> None:
    # Of machines that share the folder two may have processes of one number.
    half = f"{path}.{uuid.uuid4().hex}.half"
    try:
        with open(half, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            # A link appears with all that it holds, and only where there is none yet.
            os.link(half, path)
        except FileExistsError:
            pass
        except OSError:
            # exFAT, and some shared volumes, know no links.
            _write_new(path, text)
        if text and _stays_empty(path):
            # Whoever made it is dead.
            os.replace(half, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(half)


def _write_new(path: str, text: str) -> None:
    with contextlib.suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
        file.write(text)


def _stays_empty(path: str) -> bool:
    """Whether nobody writes what a file without links must be written with after it was made."""
    until = time.monotonic() + _WRITING_SECONDS
    while not os.path.getsize(path):
        if time.monotonic() >= until:
            return True
        time.sleep(0.01)
    return False


def make_folder(path: str) -> None:
    """Makes a folder; at a URL whoever writes a file makes it."""
    if not is_url(path):
        os.makedirs(path, exist_ok=True)


def remove(path: str) -> None:
    """Removes a file, or a folder with all in it; what cannot be removed stays."""
    if not is_url(path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(path)
        return
    with contextlib.suppress(OSError), _as_of_a_disk():
        gfile = _gfile()
        gfile.rmtree(path) if gfile.isdir(path) else gfile.remove(path)


def _gfile() -> Any:
    import tensorflow as tf

    return tf.io.gfile


@contextlib.contextmanager
def _as_of_a_disk() -> Iterator[None]:
    """Makes TensorFlow's errors those that Python raises of a disk."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.NotFoundError as error:
        raise FileNotFoundError(error.message) from error
    except tf.errors.OpError as error:
        raise OSError(error.message) from error
