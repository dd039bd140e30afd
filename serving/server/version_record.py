"""One version of one model: on its way into memory, in it, or failed until it is tried again."""

import dataclasses
import enum
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.servable import Servable
from pairloom.serving.server.version_folders import Footprint

_LONGEST_RETRY_WAIT = 60.0


class State(enum.IntEnum):
    """TF Serving's `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclasses.dataclass(frozen=True)
class Retries:
    """When a version that failed, and whose folder has not changed since, is tried again.

    Args:
        seconds: Until the first retry.
        most: How many there are; None: no end of them.
        grow: Whether each waits twice as long as the one before, up to a minute.
    """

    seconds: float = 1.0
    most: int | None = None
    grow: bool = True

    @classmethod
    def of(cls, options: ServerOptions) -> "Retries":
        """As the flags say; an interval that is given stays the same."""
        micros = options.load_retry_interval_micros
        seconds = 1.0 if micros is None else max(0, micros) / 1e6
        return cls(seconds, options.max_num_load_retries, grow=micros is None)

    def wait(self, failures: int) -> float:
        """Seconds from the last of so many failures in a row to the next try."""
        if self.most is not None and failures > self.most:
            return math.inf
        if not self.grow:
            return self.seconds
        return min(_LONGEST_RETRY_WAIT, self.seconds * 2 ** min(failures - 1, 10))


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


@dataclasses.dataclass
class VersionRecord:
    """What is known of one version: its state, its last error, and when to try again.

    Args:
        state: As in the model's status.
        code: `OK`, or why it did not load.
        message: The error's text.
        servable: The loaded version while it is available.
        folder: Where that was loaded from.
        seen: The folder as it looked at the last poll.
        seen_since: Monotonic time since when it has looked so.
        tried: The folder as it looked when the last load failed.
        failures: Failed loads in a row.
        retry_at: Monotonic time of the next attempt if the folder stays as it is.
        loading: What is on its way.
    """

    state: State = State.START
    code: Code = Code.OK
    message: str = ""
    servable: Servable | None = None
    folder: Path | None = None
    seen: Footprint | None = None
    seen_since: float = 0.0
    tried: Footprint | None = None
    failures: int = 0
    retry_at: float = 0.0
    loading: Loading | None = None

    def unchanged(self, look: Footprint) -> float:
        """Seconds for which the folder has looked as it does now."""
        now = time.monotonic()
        if look != self.seen:
            self.seen, self.seen_since = look, now
        return now - self.seen_since

    def fail(self, look: Footprint, error: Exception, retries: Retries) -> bool:
        """Notes a load that failed.

        Args:
            look: The folder as it was.
            error: What went wrong.
            retries: When the next attempt comes.

        Returns:
            Whether it is the first failure of this folder.
        """
        first = self.tried != look
        self.failures = 1 if first else self.failures + 1
        self.tried = look
        self.retry_at = time.monotonic() + retries.wait(self.failures)
        number = getattr(error, "error_code", None) or getattr(error, "code", Code.UNKNOWN)
        message = str(getattr(error, "message", None) or error or type(error).__name__)
        self.state = State.AVAILABLE if self.servable is not None else State.END
        self.code = Code(int(number or Code.UNKNOWN))
        self.message = " ".join(message.split())[:500]
        return first


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
