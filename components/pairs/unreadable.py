"""Files that are not text in UTF-8 as a whole: told by their first bytes, with what to do."""

import os
import zlib

from pairloom.components.pairs.files import open_bytes

__all__ = ["what_is_wrong"]

_LOOKED_AT = 4096
# Text has no NULs; UTF-16 has one in every other byte of what is written in Latin letters.
_MOST_NULS = 0.2
_UNPACK = "Unpack it first, as in: {command} {name}"
_SAVE = "Save its table as CSV in UTF-8 first"
_CONVERT = "Convert it first, as in: iconv -f {encoding} -t utf-8 {name} > utf8.txt"
_BEGINNINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32", _CONVERT.replace("{encoding}", "utf-32")),
    (b"\xff\xfe", "UTF-16", _CONVERT.replace("{encoding}", "utf-16")),
    (b"\xfe\xff", "UTF-16", _CONVERT.replace("{encoding}", "utf-16")),
    (b"PK\x03\x04", "a zip archive", _UNPACK.replace("{command}", "unzip")),
    (b"BZh", "a bzip2 archive", _UNPACK.replace("{command}", "bunzip2 -k")),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK.replace("{command}", "unxz -k")),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK.replace("{command}", "7z x")),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK.replace("{command}", "unzstd")),
    (b"PAR1", "a Parquet file", _SAVE),
)
_WORKBOOKS = (".xlsx", ".xlsm", ".ods", ".numbers")


def what_is_wrong(path: str) -> str:
    """What a file is instead of plain or gzip text, in a sentence, and what to do; empty: text.

    >>> what_is_wrong("pairs.zip")
    '`pairs.zip` looks like a zip archive. Unpack it first, as in: unzip pairs.zip'
    """
    try:
        with open_bytes(path) as file:
            beginning = file.read(_LOOKED_AT)
    except (OSError, EOFError, zlib.error):
        # Broken, or gone: told where it is read.
        return ""
    found = next(((what, do) for mark, what, do in _BEGINNINGS if beginning.startswith(mark)), None)
    if found and path.lower().endswith(_WORKBOOKS):
        found = ("a workbook", _SAVE)
    if not found and beginning.count(0) > _MOST_NULS * len(beginning):
        # Without a byte order mark, where the NULs are says which of two it is.
        little = beginning[1::2].count(0) > beginning[::2].count(0)
        encoding = "utf-16le" if little else "utf-16be"
        found = ("UTF-16", _CONVERT.replace("{encoding}", encoding))
    if not found:
        return ""
    what, do = found
    return f"`{path}` looks like {what}. {do.format(name=os.path.basename(path))}"
