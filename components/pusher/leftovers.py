"""What a push leaves that was killed: its own retry mends it, and where none comes a later push."""

import glob
import os
import time

from pairloom.components.anywhere import changed, find, remove
from pairloom.components.holding import LATELY
from pairloom.components.pusher.versions import is_whole

__all__ = ["CLAIMS", "HALF", "clear_away"]

HALF = ".half-"
"""Before the name of a push, the folder on a disk that is to become its version."""

CLAIMS = ".pushing"
"""Beside the versions at a URL: a file of each push that is under way, with the number it wants."""


def clear_away(base: str) -> None:
    """Removes what was left for a day; what is younger may be under way.

    Args:
        base: The model's folder for servers.
    """
    beside = glob.escape(base)
    for half in find(os.path.join(beside, f"{HALF}*")):
        if _is_old(half):
            remove(half)
    for claim in find(os.path.join(beside, CLAIMS, "*")):
        if _is_old(claim):
            version = os.path.join(base, os.path.basename(claim).partition("-")[0])
            if not is_whole(version):
                remove(version)
            remove(claim)


def _is_old(path: str) -> bool:
    written = changed(path)
    return 0 < written < time.time() - LATELY
