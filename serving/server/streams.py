"""The threads that models compute in."""

import os
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pairloom.serving.server.errors import Code, RequestError


class Streams:
    """So many computations at once, each in a thread of its own, whichever model it is of.

    A search is a long chain of small operations. Spread over all cores, it spends more time on
    handing them around than on computing; a chain on each core gives more answers, and each no
    later. `--tensorflow_intra_op_parallelism` and `--tensorflow_inter_op_parallelism` spread.

    Args:
        count: How many there are.
        threads: Operations of one computation that may run at once.
    """

    def __init__(self, count: int = 2 * (os.cpu_count() or 1), threads: int = 1):
        self._count = count
        self._threads = threads
        # The last one that was given back is the first to be taken: its core knows the model.
        self._free: queue.LifoQueue[int] = queue.LifoQueue()
        for number in reversed(range(count)):
            self._free.put(number)
        # When each that is taken was taken.
        self._since: dict[int, float] = {}

    @property
    def busy(self) -> int:
        """How many are taken."""
        return len(self._since)

    def stuck(self, seconds: float) -> bool:
        """Whether all have been taken for so long that whoever comes now must wait long as well."""
        since = list(self._since.values())
        return len(since) == self._count and time.monotonic() - max(since) > seconds

    def configure(self, config: Any) -> None:
        """Writes the streams into a session's `ConfigProto`; sessions share them by name."""
        for number in range(self._count):
            name = f"pairloom-{number}-of-{self._threads}"
            config.session_inter_op_thread_pool.add(num_threads=self._threads, global_name=name)

    @contextmanager
    def take(self, seconds: float | None = None) -> Iterator[int]:
        """A stream's number, its own until the block ends.

        Args:
            seconds: How long to wait for one; None: as long as it takes.
        """
        try:
            number = self._free.get(timeout=None if seconds is None else max(seconds, 0))
        except queue.Empty:
            raise RequestError(
                Code.DEADLINE_EXCEEDED, "Deadline exceeded before the start."
            ) from None
        self._since[number] = time.monotonic()
        try:
            yield number
        finally:
            del self._since[number]
            self._free.put(number)
