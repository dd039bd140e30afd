"""Arrays in NumPy's files, opened without trust in what is in them."""

import io
import zipfile
from collections.abc import Callable, Mapping

import numpy as np

from pairloom.kinds.kind import FieldError

__all__ = ["Arrays", "checked_vectors", "open_arrays"]

_NPY, _ZIP = b"\x93NUMPY", b"PK"
_LARGEST = float(np.finfo(np.float32).max)
_SHOWN = 5


class Arrays:
    """What an array file holds.

    Args:
        names: What there is to be found.
        get: Gives the array of a name.
    """

    def __init__(self, names: Mapping[str, int], get: Callable[[str], np.ndarray]):
        self._names, self._get = names, get

    def find(self, part: str) -> np.ndarray:
        """The array of that name; of a file with one array, without a name too.

        Raises:
            FieldError: There is none of that name, or several and no name.
        """
        if not part and len(self._names) == 1:
            [part] = self._names
        if part not in self._names:
            known = ", ".join(list(self._names)[:_SHOWN])
            more = ", ..." if len(self._names) > _SHOWN else ""
            said = f"`{part}`" if part else "no name behind #"
            raise FieldError(f"is missing: expected one of {known}{more}, received {said}")
        return self._get(part)


def open_arrays(content: bytes, most_bytes: int, array: str = "", names: str = "") -> Arrays:
    """Opens an npy or npz file.

    Args:
        content: The file.
        most_bytes: Arrays that would be larger are refused by their headers.
        array: The array in an npz file that holds all values; empty: each value is an array.
        names: The array that names the rows of `array`.

    Raises:
        FieldError: It is no such file, is broken or too large, or holds Python objects.
    """
    if content.startswith(_NPY):
        only = _read_npy(content, most_bytes)
        return Arrays({"": 0}, lambda _: only)
    if not content.startswith(_ZIP):
        raise FieldError("is no array file: expected .npy or .npz")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile as error:
        raise FieldError(f"is a broken npz file: {error}") from None
    entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]

    def read(name: str) -> np.ndarray:
        try:
            entry = archive.getinfo(f"{name}.npy")
        except KeyError:
            raise FieldError(f"must hold an array `{name}`, and has none") from None
        if entry.file_size > most_bytes:
            raise FieldError(f"holds more than the {most_bytes:,} bytes allowed, in `{name}`")
        try:
            return _read_npy(archive.read(entry), most_bytes)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
            raise FieldError(f"is a broken npz file: {error}") from None

    if not array:
        return Arrays({entry.filename.removesuffix(".npy"): 0 for entry in entries}, read)
    table = read(array)
    called = read(names) if names else np.arange(len(table))
    if called.shape != table.shape[:1]:
        raise FieldError(f"must hold a name in `{names}` for each of `{array}`'s {len(table)}")
    rows = {str(name): row for row, name in enumerate(called.tolist())}
    return Arrays(rows, lambda name: table[rows[name]])


def checked_vectors(found: np.ndarray) -> np.ndarray:
    """An array as `(time, width)` of float32.

    Raises:
        FieldError: It is none of finite numbers, or of another shape.
    """
    if found.dtype.kind not in "fiu":
        raise FieldError(f"must hold real numbers, received {found.dtype}")
    if found.ndim == 1:
        found = found[None]
    if found.ndim != 2 or not found.size:
        raise FieldError(f"must be of shape (time, width), received {found.shape}")
    # NaN compares with nothing.
    if not (np.abs(found) <= _LARGEST).all():
        raise FieldError("holds a number that is not finite")
    return np.ascontiguousarray(found, np.float32)


def _read_npy(content: bytes, most_bytes: int) -> np.ndarray:
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        reader = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        shape, _, dtype = reader[min(version[0], 2)](file)
        if dtype.itemsize * int(np.prod(shape, dtype=object)) > most_bytes:
            raise FieldError(f"holds more than the {most_bytes:,} bytes allowed")
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)
    except FieldError:
        raise
    except Exception as error:  # NumPy raises whatever broken bytes lead to.
        raise FieldError(f"is a broken array: {error}") from None
