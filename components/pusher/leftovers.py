"""What a push leaves that was killed: its own retry mends it, and where none comes a later push."""

import contextlib
import glob
import math
import os
import time
from collections.abc import Iterator

from pairloom.components.anywhere import changed, find, remove
from pairloom.components.holding import LATELY, Held, NoLocksError, held
from pairloom.components.pusher.versions import is_whole

__all__ = ["CLAIMS", "HALF", "clear_away", "half_made"]

HALF = ".half-"
"""Before the name of a push, the folder on a disk with all that the push makes."""

CLAIMS = ".pushing"
"""Beside the versions at a URL: a file of each push that is under way, with the number it wants."""

_LOCK = "lock"
_VERSION = "version"


@contextlib.contextmanager
def half_made(base: str, token: str) -> Iterator[str]:
    """A place on a disk, beside the versions, for what is to become one; nobody else touches it.

    Another process with the same push waits until it is over.

    Args:
        base: The model's folder for servers.
        token: Names the push.

    Yields:
        The path of a folder that is not there. What is there in the end is removed.
    """
    half = os.path.join(base, f"{HALF}{token}")
    with _held(half, math.inf):
        try:
            remove(os.path.join(half, _VERSION))
            yield os.path.join(half, _VERSION)
        finally:
            _drop(half)
    # NFS keeps the folder of a file that is open.
    with contextlib.suppress(OSError):
        os.rmdir(half)


def clear_away(base: str) -> None:
    """Removes what was left for a day and what no process holds.

    At a URL there are no locks, nor on some volumes: there what is younger may be under way.

    Args:
        base: The model's folder for servers.
    """
    beside = glob.escape(base)
    for half in find(os.path.join(beside, f"{HALF}*")):
        if _is_old(half):
            # Another user's stays.
            with contextlib.suppress(Held, OSError), _held(half, 0.0):
                _drop(half)
    for claim in find(os.path.join(beside, CLAIMS, "*")):
        if _is_old(claim):
            version = os.path.join(base, os.path.basename(claim).partition("-")[0])
            if not is_whole(version):
                remove(version)
            remove(claim)


@contextlib.contextmanager
def _held(half: str, patience: float) -> Iterator[None]:
    with contextlib.ExitStack() as lock:
        # A volume without locks can be pushed to: what was copied is compared before it is served.
        with contextlib.suppress(NoLocksError):
            lock.enter_context(held(os.path.join(half, _LOCK), patience))
        yield


def _drop(half: str) -> None:
    # While the lock's file is there: whoever comes after it makes both anew.
    remove(os.path.join(half, _VERSION))
    remove(half)


def _is_old(path: str) -> bool:
    written = changed(path)
    return 0 < written < time.time() - LATELY
