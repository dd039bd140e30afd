"""A version on its way into memory, which may take long or never end."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.version_folders import Footprint


class Loading:
    """Loads in a thread of its own, so that nothing else waits for what hangs.

    Args:
        load: Does it.
        look: The folder as it was.
    """

    def __init__(self, load: Callable[[], LoadedModel], look: Footprint):
        self.look = look
        self._since = time.monotonic()
        self._loaded: Future[LoadedModel] = Future()
        threading.Thread(target=self._run, args=(load,), name="load", daemon=True).start()

    def _run(self, load: Callable[[], LoadedModel]) -> None:
        try:
            self._loaded.set_result(load())
        except BaseException as error:
            self._loaded.set_exception(error)

    def seconds(self) -> float:
        """How long it has been loading."""
        return time.monotonic() - self._since

    def result(self, patience: float) -> LoadedModel:
        """The model, or what went wrong.

        Raises:
            TimeoutError: Of `concurrent.futures`: it began less than `patience` seconds ago or has
                taken longer.
        """
        return self._loaded.result(max(0.0, patience - self.seconds()))

    def abandon(self) -> None:
        """Nobody wants it any more; should it come, it is closed."""

        def close(done: "Future[LoadedModel]") -> None:
            with suppress(BaseException):
                done.result().close()

        self._loaded.add_done_callback(close)


def check_files(folder: Path) -> None:
    """Raises `RequestError` for what is no file: to read a pipe or a device may never end."""
    for path in folder.rglob("*"):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise RequestError(
                Code.FAILED_PRECONDITION, f"Expected files and folders. Received: {path}."
            )


@contextmanager
def held(lock: threading.Lock, until: float | None) -> Iterator[None]:
    """Holds a lock; None waits as long as it takes, otherwise until then, in monotonic time."""
    seconds = -1 if until is None else max(0.0, until - time.monotonic())
    if not lock.acquire(timeout=seconds):
        raise RequestError(Code.DEADLINE_EXCEEDED, "Deadline exceeded: versions are being loaded.")
    try:
        yield
    finally:
        lock.release()
