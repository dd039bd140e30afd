"""The versions that were pushed to a folder, on a disk or at a URL."""

import os
from pathlib import Path

from pairloom.components.anywhere import exists, is_url, listed
from pairloom.serving.versions import versions_on_disk

__all__ = ["MODEL_FILE", "is_whole", "lost_versions", "pushed_versions"]

MODEL_FILE = "saved_model.pb"
"""Without it no server loads a version: so it comes last."""


def pushed_versions(base: str) -> dict[int, str]:
    """Version to folder, highest first; at a URL, those that are still being pushed too."""
    if not is_url(base):
        found = versions_on_disk(Path(base)) if os.path.isdir(base) else {}
        return {version: str(folder) for version, folder in found.items()}
    numbers = {int(name): name for name in listed(base) if name.isascii() and name.isdigit()}
    there = sorted((number for number in numbers if number < 2**63), reverse=True)
    return {number: f"{base.rstrip('/')}/{numbers[number]}" for number in there}


def is_whole(version: str) -> bool:
    """Whether a version's folder has what servers need."""
    return exists(os.path.join(version, MODEL_FILE))


def lost_versions(base: str) -> list[str]:
    """Folders of versions of which somebody has deleted a part.

    On a disk none comes without its model. At a URL such a one may be under way.
    """
    if is_url(base):
        return []
    return [folder for folder in pushed_versions(base).values() if not is_whole(folder)]
