"""Values that are files: a row holds a path, and the kind judges what the file holds."""

from dataclasses import dataclass, field
from typing import NamedTuple

from pairloom.kinds.kind import FieldOptions

__all__ = ["FileContent", "FileOptions"]


@dataclass(frozen=True)
class FileOptions(FieldOptions):
    """What every field may say whose values are files.

    Paths start at `folder`, itself a path from `data.folder`, and may not lead out of it. Files of
    more than `most_bytes` are rejected unread, and refused by a served model.
    """

    folder: str = ""
    most_bytes: int = field(default=16 * 2**20, metadata={"at_least": 1})


class FileContent(NamedTuple):
    """A file as its kind is given it to read.

    Attributes:
        path: As the row has it.
        content: All bytes of the file.
    """

    path: str
    content: bytes
