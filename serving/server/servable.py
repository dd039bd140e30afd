"""One version of one model, from the folder to the last request that it answers."""

import dataclasses
import enum
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pairloom.serving.server.errors import Code
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.version_folders import Footprint


class State(enum.IntEnum):
    """TF Serving's `ModelVersionStatus.State`."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


class Servable:
    """A loaded version that is closed when it is retired and nobody uses it any more."""

    def __init__(self, name: str, version: int, model: LoadedModel):
        self.name = name
        self.version = version
        self.model = model
        self._users = 0
        self._closed: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def acquire(self) -> None:
        """Counts one more user; never call it on a servable that is out of the registry."""
        with self._lock:
            self._users += 1

    @contextmanager
    def in_use(self) -> Iterator["Servable"]:
        """Gives the servable to a user counted by `acquire`, and counts it off afterwards."""
        try:
            yield self
        finally:
            with self._lock:
                self._users -= 1
                last = self._users == 0 and self._closed is not None
            if last:
                self._close()

    def retire(self, closed: Callable[[], None]) -> None:
        """Frees the model, now or when its last user is done, and calls `closed` then."""
        with self._lock:
            self._closed = closed
            idle = self._users == 0
        if idle:
            self._close()

    def _close(self) -> None:
        self.model.close()
        assert self._closed is not None
        self._closed()


@dataclasses.dataclass
class VersionRecord:
    """What is known of one version: its state, its last error, and when to try again.

    Args:
        state: As in the model's status.
        code: `OK`, or why it did not load.
        message: The error's text.
        servable: The loaded version while it is available.
        seen: The folder as it looked at the last poll.
        tried: The folder as it looked when the last load failed.
        failures: Failed loads in a row.
        retry_at: Monotonic time of the next attempt if the folder stays as it is.
    """

    state: State = State.START
    code: Code = Code.OK
    message: str = ""
    servable: Servable | None = None
    seen: Footprint | None = None
    tried: Footprint | None = None
    failures: int = 0
    retry_at: float = 0.0
