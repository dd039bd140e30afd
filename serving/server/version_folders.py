"""The versions of a model on disk: which there are, which to serve, and whether one is written."""

import dataclasses
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.model_config import ConfiguredModel, VersionPolicy
from pairloom.serving.versions import versions_on_disk

logger = logging.getLogger("pairloom.serving")


class VersionFolders:
    """Looks for models' versions, and says once what is not there."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def of(self, model: ConfiguredModel) -> dict[int, Path] | None:
        """As `versions_on_disk`; None if the base path cannot be listed."""
        try:
            folders = versions_on_disk(model.base_path)
        except (OSError, ValueError) as error:
            # A ValueError is of a path that no file system could have.
            self._say_once(
                model.name,
                f"Could not find base path {model.base_path} of model {model.name}: {error}; "
                "waiting.",
            )
            return None
        if folders:
            self._said.pop(model.name, None)
        else:
            self._say_once(
                model.name,
                f"No version of model {model.name} in {model.base_path} yet (a folder named by a "
                f"number, such as 1){_hint(model.base_path)}; waiting.",
            )
        return folders

    def _say_once(self, name: str, message: str) -> None:
        if self._said.get(name) != message:
            self._said[name] = message
            logger.warning("%s", message)


def _hint(folder: Path) -> str:
    """Where the versions are, if whoever named the folder meant one in it."""
    try:
        inside = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()]
        found = next((path for path in sorted(inside) if versions_on_disk(path)), None)
    except OSError:
        return ""
    return f". There are some in {found}: name that, if it is meant" if found else ""


def candidates(policy: VersionPolicy, versions: Iterable[int]) -> Iterator[int]:
    """The versions that may be served, best first."""
    for version in sorted(versions, reverse=True):
        if policy.kind != "specific" or version in policy.specific:
            yield version


def wanted_count(policy: VersionPolicy) -> float:
    """How many of the candidates should be served at once."""
    return policy.latest if policy.kind == "latest" else float("inf")


@dataclasses.dataclass(frozen=True)
class Footprint:
    """What a folder looks like from outside; two equal ones mean that nobody wrote in between.

    Args:
        files: `(relative path, size, change time in ns)` of every file and folder, sorted.
        changed: The newest change time in seconds; 0 for a folder that is not there.
    """

    files: tuple[tuple[str, int, int], ...]
    changed: float

    def settled(self, now: float, unchanged: float, quiet: float) -> bool:
        """Whether nothing has been written for `quiet` seconds.

        A version is copied file by file, and a vocabulary cut short would still load: so a
        folder is left alone until it is quiet. The change time cannot be set by a copy that
        keeps modification times.

        Args:
            now: The time by the clock.
            unchanged: For how many seconds it has looked like this to us: where clocks disagree.
            quiet: How many are enough.
        """
        return unchanged >= quiet or now - self.changed >= quiet


def footprint(folder: Path) -> Footprint:
    """Looks at everything under `folder`; files that vanish meanwhile are left out."""
    files = []
    newest = 0
    for root, _, names in os.walk(folder):
        for path in (root, *(os.path.join(root, name) for name in names)):
            try:
                stat = os.stat(path)
            except OSError:
                continue
            files.append((os.path.relpath(path, folder), stat.st_size, stat.st_ctime_ns))
            newest = max(newest, stat.st_ctime_ns)
    return Footprint(tuple(sorted(files)), newest / 1e9)


def check_files(folder: Path) -> None:
    """Raises `RequestError` for what is no file: to read a pipe or a device may never end."""
    for path in folder.rglob("*"):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise RequestError(
                Code.FAILED_PRECONDITION, f"Expected files and folders. Received: {path}."
            )
