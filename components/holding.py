"""Files that say who is at work, and are free again when that process is gone, however it went."""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

__all__ = ["Held", "held", "is_held"]

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
    if "://" in path:
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


def is_held(path: str) -> bool:
    """Whether a process holds the lock file now."""
    try:
        with open(path, encoding="utf-8") as file:
            return not _taken(file)
    except FileNotFoundError:
        return False


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
