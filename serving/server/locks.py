"""Locks that a request with a deadline can wait for."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pairloom.serving.server.errors import Code, RequestError


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
