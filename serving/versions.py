"""The versions of a model, as whoever pushes and whoever serves them finds them on disk."""

import os
from pathlib import Path


def versions_on_disk(base_path: Path) -> dict[int, Path]:
    """Finds the folders named by a number.

    Returns:
        Version to folder, highest first. When `7` and `007` are both there, either may win.

    Raises:
        OSError: The base path cannot be listed.
    """
    found = {}
    for entry in os.scandir(base_path):
        if entry.name.isascii() and entry.name.isdigit() and entry.is_dir():
            version = int(entry.name)
            if version < 2**63:
                found[version] = Path(entry.path)
    return dict(sorted(found.items(), reverse=True))
