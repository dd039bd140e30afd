"""Files in folders that say what they are: a folder a class, however deep the files lie in it.

`data.train` names the folder that holds them; the first field is the file, the second the name of
its class:

    data/clips/fight/cam1/7.mp4
    data/clips/greet/cam2/1.mp4

Files beside the folders are left alone, and so are hidden ones and those whose names
`options.files` does not match.
"""

import fnmatch
import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import listing
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.rows import Chunk, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Folders"]


class Folders:
    """One row a file, in the order of their names."""

    splittable = True
    side_by_side = True
    reads_lines = False
    needs_files = True
    folds = False
    options: Mapping[str, Option] = {"files": Option("*", at_least=1)}

    def home(self) -> str:
        return ""

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("folders", settings, "the file", "the name of its folder")
        if not settings.kinds[0].is_file:
            kind = settings.kinds[0].name
            raise DataError(
                f"The first field of the format `folders` holds files. Received: "
                f"`{settings.fields[0]}`, of the kind `{kind}`."
            )
        folders = [source] if isinstance(source, str) else list(source)
        for folder in folders:
            if not isinstance(folder, str) or not ("://" in folder or os.path.isdir(folder)):
                raise DataError(
                    f"`{named}` must be a folder that holds a folder for each class. "
                    f"Received: {folder!r}."
                )
            if not self._found(folder, settings):
                raise DataError(
                    f"`{named}`: no folder in `{folder}` holds a file. Expected a folder for each "
                    "class, with its files in it."
                )
        return [(folder,) for folder in folders]

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        return len(self._found(files[0], settings))

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row]:
        [folder] = chunk.files
        start = settings.folders[0]
        found = self._found(folder, settings)[chunk.first - 1 :]
        for number, path in enumerate(islice(found, chunk.lines), chunk.first):
            place = os.path.relpath(os.path.join(folder, path), start)
            yield Row(folder, number, (place, path.split("/")[0]))

    def _found(self, folder: str, settings: PairSettings) -> list[str]:
        """The files below the folders in a folder, by their paths from it."""
        pattern = option_values(self.options, settings.options)["files"]
        return sorted(
            path
            for path in _below(folder)
            if "/" in path
            and not any(part.startswith(".") for part in path.split("/"))
            and fnmatch.fnmatch(path.rpartition("/")[2], pattern)
        )


def _below(folder: str) -> Iterator[str]:
    if "://" in folder:
        home = folder.rstrip("/") + "/"
        yield from (path.removeprefix(home) for path in listing(folder))
        return
    for inside, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(inside, name), folder).replace(os.sep, "/")
