"""The thread in which gRPC's requests wait, all of them together."""

import asyncio
import functools
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


class EventLoop:
    """An asyncio loop that runs in a thread of its own as long as the process does."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._ready: list[asyncio.Future[None]] = []
        threading.Thread(target=self.loop.run_forever, name="grpc-loop", daemon=True).start()

    def start(self, coroutine: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Runs a coroutine in the loop; call it from any thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine in the loop, and waits for it in a thread that is not the loop's."""
        return self.start(coroutine).result()

    async def result(self, future: "Future[Result]") -> Result:
        """Waits in the loop for what another thread computes.

        To wake the loop is a system call and a change of threads, so those who are answered
        together, as a batch is, are woken together.
        """
        ready = self.loop.create_future()
        future.add_done_callback(lambda _: self._wake(ready))
        await ready
        return future.result()

    def _wake(self, ready: "asyncio.Future[None]") -> None:
        with self._lock:
            first = not self._ready
            self._ready.append(ready)
        if first:
            self.loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        with self._lock:
            woken, self._ready = self._ready, []
        for ready in woken:
            # Not of those whose client has gone.
            if not ready.done():
                ready.set_result(None)


@functools.cache
def event_loop() -> EventLoop:
    """The loop of this process: gRPC would wake each of several for what concerns one."""
    return EventLoop()
