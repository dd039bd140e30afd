"""Disks that are full or read-only, as a user is told of them."""

import re
from collections.abc import Iterable

__all__ = ["disk_trouble"]

# In the words of the system, of TensorFlow and Beam, which repeat them, and of SQLite: the last is
# what ML Metadata tells once SQLite has taken back by itself what it had no room for.
_WORDS = re.compile(
    r"no space left on device|disk quota exceeded|file too large|read-only file system"
    r"|database or disk is full|readonly database|cannot commit - no transaction is active",
    re.IGNORECASE,
)


def disk_trouble(errors: Iterable[BaseException], place: str) -> str:
    """What to say where a disk is at fault.

    Args:
        errors: A failure, and what caused it.
        place: Where the pipeline's artifacts go.

    Returns:
        Empty where no disk is.
    """
    for error in errors:
        if found := _WORDS.search(str(error)):
            return (
                f"Expected to write to {place}, to the metadata and to temporary folders. "
                f"Received: {found[0].lower()}. Make room or let it be written, and run the same "
                "command again: what was half written is taken away then."
            )
    return ""
