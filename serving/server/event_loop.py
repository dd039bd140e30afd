"""The one event loop in which gRPC and REST are served, in a thread of its own."""

import asyncio
import functools
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoop:
    """Runs coroutines for other threads, and brings to coroutines what other threads computed."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._arrived: deque[asyncio.Future[None]] = deque()
        self._woken = False
        threading.Thread(target=self.loop.run_forever, name="server", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop, and waits for it; not to be called in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def call(self, act: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function in the loop, soon; never, where the loop has ended."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(act, *arguments)

    async def result(self, promised: "Future[T]") -> T:
        """What a thread computes, when it is there.

        Many that arrive together wake the loop once, which `asyncio.wrap_future` does for each.
        """
        here = self.loop.create_future()
        promised.add_done_callback(lambda _: self._arrive(here))
        await here
        return promised.result()

    def _arrive(self, here: "asyncio.Future[None]") -> None:
        self._arrived.append(here)
        if not self._woken:
            self._woken = True
            self.call(self._hand_over)

    def _hand_over(self) -> None:
        # First, so that whoever arrives from now on wakes the loop again.
        self._woken = False
        while self._arrived:
            here = self._arrived.popleft()
            if not here.done():
                here.set_result(None)


@functools.cache
def server_loop() -> EventLoop:
    """The loop of all servers of this process: gRPC's asyncio has one poller for each process."""
    return EventLoop()
