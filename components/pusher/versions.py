"""The versions that were pushed to a folder, on a disk or at a URL."""

import os
from pathlib import Path

from pairloom.components.anywhere import is_url, listed, read_text, size
from pairloom.serving.versions import versions_on_disk

__all__ = ["MODEL_FILE", "NOTE", "is_whole", "lost_versions", "push_of", "pushed_versions"]

MODEL_FILE = "saved_model.pb"
"""Without it no server loads a version: so it comes last."""

NOTE = "assets.extra/pushed"
"""Beside the model's own files: of which push the version is."""


def pushed_versions(base: str) -> dict[int, str]:
    """Version to folder, highest first; at a URL, those that are still being pushed too."""
    if not is_url(base):
        found = versions_on_disk(Path(base)) if os.path.isdir(base) else {}
        return {version: str(folder) for version, folder in found.items()}
    numbers = {int(name): name for name in listed(base) if name.isascii() and name.isdigit()}
    there = sorted((number for number in numbers if number < 2**63), reverse=True)
    return {number: f"{base.rstrip('/')}/{numbers[number]}" for number in there}


def push_of(version: str) -> str:
    """The token of the push that a version's folder is of; empty: it is of none."""
    try:
        return read_text(os.path.join(version, NOTE))
    except (FileNotFoundError, NotADirectoryError):
        return ""


def is_whole(version: str) -> bool:
    """Whether a version's folder has what servers need.

    A file of no bytes is none: a machine that lost its power may have left it.
    """
    return size(os.path.join(version, MODEL_FILE)) > 0


def lost_versions(base: str) -> list[str]:
    """Folders of pushed versions that are without their model.

    On a disk no push leaves one: somebody has deleted a part of it, or is copying a version. What
    no push has made may be anybody's. At a URL such a one may be under way.
    """
    if is_url(base):
        return []
    folders = pushed_versions(base).values()
    return [folder for folder in folders if not is_whole(folder) and push_of(folder)]
