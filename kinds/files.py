"""Values that are files: a row holds a path, and the kind judges what the file holds."""

import posixpath
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pairloom.kinds.kind import FieldOptions

__all__ = ["PART_MARK", "FileContent", "FileOptions", "find_part"]

PART_MARK = "#"
"""What stands between a file and the part of it that a row means: `clips.npz#17`."""


@dataclass(frozen=True)
class FileOptions(FieldOptions):
    """What every field may say whose values are files.

    What a row holds stands for `{}` in `path`, and without its ending for `{stem}`: of `17.avi`,
    `{stem}.npy` makes `17.npy`. Paths start at `folder`, itself a path from `data.folder`, and may
    not lead out of it. Files of more than `most_bytes` are rejected unread, and refused by a served
    model.
    """

    folder: str = ""
    path: str = "{}"
    most_bytes: int = field(default=10 * 2**20, metadata={"at_least": 1})


class FileContent(NamedTuple):
    """A file as its kind is given it to read.

    Attributes:
        path: As the row has it.
        content: All bytes of the file, or what `Kind.opened` made of them.
        part: Which of the values in the file is meant, where its kind `has_parts`.
    """

    path: str
    content: Any
    part: str = ""


def find_part(said: str, template: str, has_parts: bool) -> tuple[str, str]:
    """The file and the part of it that a row means.

    Args:
        said: What the row holds.
        template: The field's option `path`.
        has_parts: Whether `#` in a path leads into the file.
    """
    path = template.replace("{stem}", posixpath.splitext(said)[0]).replace("{}", said)
    if not has_parts:
        return path, ""
    file, _, part = path.partition(PART_MARK)
    return file, part
