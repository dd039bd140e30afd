"""Files that say who is at work, and are free again when that process is gone, however it went.

There are none at a URL. What a dead process left there is closed by the next attempt at the same
work, and whether somebody is at work can only be guessed: it is taken to be so.
"""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from pairloom.components.anywhere import find, is_url

__all__ = ["LATELY", "Held", "NoLocksError", "any_held", "held", "is_held", "locked"]

LATELY = 24 * 3600.0
"""Seconds for which whoever wrote at a URL is taken to be at work still."""

# Whoever asks whether a file is held has it for an instant.
_INSTANT = 0.4
_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class Held(Exception):
    """Somebody else is at work; the message says who."""


class NoLocksError(Exception):
    """Nobody can tell who is at work; the message says on which volume."""


@contextmanager
def held(
    path: str, patience: float = _INSTANT, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Holds a lock file, which the system frees even after kill -9.

    It holds between processes of one machine, and between machines where their shared volume
    passes locks on. At a URL there are no locks: it then does nothing.

    Args:
        path: The file; it is made, with its folder. Its holder may remove both.
        patience: Seconds to wait for another process that holds it.
        waiting: Is told who holds it, once it is more than an instant.

    Raises:
        Held: another process holds it.
        NoLocksError: the volume knows no locks.
    """
    if is_url(path):
        yield
        return
    until = time.monotonic() + patience
    while True:
        with _made(path) as file:
            _wait(file, until, waiting)
            if not _is_at(file, path):
                continue
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            # Else another machine reads who held it before.
            with suppress(OSError):
                os.fsync(file.fileno())
            yield
            return


def is_held(path: str, written: float = 0.0) -> bool:
    """Whether a process holds the lock file now.

    Args:
        path: The file. At a URL, what was written `LATELY` counts as held.
        written: When whoever would hold it wrote last, in seconds since 1970; 0: it is not known.

    Raises:
        NoLocksError: the volume knows no locks.
    """
    if is_url(path):
        return time.time() - written < LATELY
    try:
        with open(path, encoding="utf-8") as file:
            # NFS has none but shared locks of files that are open for reading alone.
            return not locked(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def any_held(pattern: str) -> bool:
    """Whether a process holds one of the lock files that a glob matches.

    At a URL, and on a volume without locks, nobody can tell: it is then taken to be so.
    """
    try:
        return is_url(pattern) or any(map(is_held, find(pattern)))
    except NoLocksError:
        return True


def locked(file: IO[str], how: int = fcntl.LOCK_EX) -> bool:
    """Locks an open file, unless another process has done so.

    Raises:
        NoLocksError: the volume knows no locks.
    """
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise NoLocksError(
            "Expected a volume whose files can be locked, for two runs must not do the same work "
            f"at once. Received: {os.path.dirname(file.name)} ({error.strerror}). Mount it with "
            "locks (NFS 4 has them, Lustre with the option `flock`), or choose another with "
            "--runs-dir or `places.root`."
        ) from None
    return True


def _made(path: str) -> IO[str]:
    folder = os.path.dirname(path)
    while True:
        os.makedirs(folder, exist_ok=True)
        try:
            return open(path, "a+", encoding="utf-8")
        except FileNotFoundError:
            # Whoever held it may have removed it with its folder.
            if os.path.isdir(folder):
                raise


def _wait(file: IO[str], until: float, waiting: Callable[[str], None] | None) -> None:
    began, pause, told = time.monotonic(), _PAUSE, ""
    while not locked(file):
        now = time.monotonic()
        if now >= until:
            raise Held(_holder(file))
        if now >= began + _INSTANT:
            pause = min(1.5 * pause, _LONGEST_PAUSE)
            holder = _holder(file)
            if waiting and holder != told:
                waiting(holder)
                told = holder
        time.sleep(pause)


def _is_at(file: IO[str], path: str) -> bool:
    """Whether an open file is still the one of that name: whoever held it may have removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(file: IO[str]) -> str:
    try:
        file.seek(0)
        return file.read().strip() or "another process"
    except OSError:
        # Where a lock keeps others from reading, too, as on SMB.
        return "another process"
