"""A run's log: first what the user was told, then what TFX and the libraries wrote."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

_BEHIND = b"\n--- what TFX and the libraries wrote ---\n"


class RunLog:
    """A file that holds what a reader wants first; a context manager.

    While it is open, what the libraries write is in a file beside it, which goes behind the rest in
    the end. Of a process that was killed there are both.

    Args:
        path: The log's file.
    """

    def __init__(self, path: Path):
        self.path = path
        self.libraries = path.with_name(f"{path.stem}.libraries{path.suffix}")

    def tell(self, words: str) -> None:
        """Writes a line, or several, with the time, before what the libraries wrote."""
        clock = time.strftime("%H:%M:%S")
        lines = "".join(f"{clock}  {line}\n" for line in words.splitlines() if line.strip())
        # A full disk is told of by the node that needs it.
        with suppress(OSError), open(self.path, "a+b") as file:
            file.seek(0)
            _, mark, behind = file.read().partition(_BEHIND)
            file.truncate(file.tell() - len(mark) - len(behind))
            file.write(lines.encode("utf-8", "replace") + mark + behind)

    def __enter__(self) -> "RunLog":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            with open(self.path, "ab") as file, open(self.libraries, "rb") as behind:
                file.write(_BEHIND)
                shutil.copyfileobj(behind, file)
            os.remove(self.libraries)
