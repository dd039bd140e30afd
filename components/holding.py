"""Files that say who is at work, and are free again when that process is gone, however it went.

There are none at a URL. What a dead process left there is closed by the next attempt at the same
work, and whether somebody is at work can only be guessed: it is taken to be so.
"""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from pairloom.components.anywhere import find, is_url

__all__ = ["LATELY", "Held", "any_held", "held", "is_held"]

LATELY = 24 * 3600.0
"""Seconds for which whoever wrote at a URL is taken to be at work still."""

# Whoever asks whether a file is held has it for an instant.
_INSTANT = 0.4
_PAUSE = 0.02


class Held(Exception):
    """Somebody else is at work; the message says who."""


@contextmanager
def held(path: str, patience: float = _INSTANT) -> Iterator[None]:
    """Holds a lock file, which the system frees even after kill -9.

    It holds between processes of one machine, and between machines where their shared volume
    passes locks on. At a URL there are no locks: it then does nothing.

    Args:
        path: The file; it is made, with its folder.
        patience: Seconds to wait for another process that holds it.

    Raises:
        Held: another process holds it.
    """
    if is_url(path):
        yield
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+", encoding="utf-8") as file:
        if not _taken(file, patience):
            file.seek(0)
            raise Held(file.read().strip() or "another process")
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def is_held(path: str, written: float = 0.0) -> bool:
    """Whether a process holds the lock file now.

    Args:
        path: The file. At a URL, what was written `LATELY` counts as held.
        written: When whoever would hold it wrote last, in seconds since 1970; 0: it is not known.
    """
    if is_url(path):
        return time.time() - written < LATELY
    try:
        with open(path, encoding="utf-8") as file:
            return not _taken(file)
    except FileNotFoundError:
        return False


def any_held(pattern: str) -> bool:
    """Whether a process holds one of the lock files that a glob matches; at a URL, always."""
    return is_url(pattern) or any(map(is_held, find(pattern)))


def _taken(file: IO[str], patience: float = 0.0) -> bool:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
        time.sleep(_PAUSE)
