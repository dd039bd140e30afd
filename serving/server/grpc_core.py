"""gRPC's core without the layers that Python's two servers put around it.

`grpc.server` hands every call through a thread of its own, and `grpc.aio` through two tasks and
some turns of its loop: more work for a small request than its model's (docs/benchmarks.md). Here
one thread takes what comes from the core, and whoever has an answer sends it. What `grpc.server`
itself stands on is not public; so all of it that is used here is in this file.
"""

import dataclasses
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import grpc
from grpc._cython import cygrpc

logger = logging.getLogger("pairloom.serving")

Metadata = Sequence[tuple[str, str]]
# Called with every message that was read, and with None when the client has no more.
Handler = Callable[["Rpc", bytes | None], None]

_NO_FLAGS = 0
# Calls that the core may take before it is asked for the next one.
_CALLS_AHEAD = 64


def _nothing() -> None:
    """What happens when nobody asked for anything; it holds nobody in memory."""


class Rpc:
    """One call. Safe for threads.

    Args:
        method: Its method.
        event: The core's, with which it began.
        over: Called when nothing more happens to it.
    """

    def __init__(self, method: str, event: Any, over: Callable[[], None]):
        self.method = method
        self.metadata: Metadata = event.invocation_metadata
        self._call = event.call
        self._deadline = event.call_details.deadline
        self._over = over
        self._lock = threading.Lock()
        self._claimed = False
        self._finished = False
        self._closed = False
        self._gone = False
        # Of the core: what it was asked for and has not done yet.
        self._due = 0
        self._headed = False
        self._sending = False
        self._unsent: deque[tuple[tuple[Any, ...], Callable[[], None]]] = deque()
        self._when_gone: Callable[[], None] = _nothing

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value for key, value in self.metadata if key == name), None)

    def time_remaining(self) -> float:
        """Seconds until its deadline; some hundred years without one."""
        return max(0.0, self._deadline - time.time())

    def when_gone(self, act: Callable[[], None]) -> None:
        """Calls `act` if the client leaves, or the deadline passes, before the call is claimed."""
        with self._lock:
            self._when_gone = act
            gone = self._gone
        if gone:
            act()

    def claim(self) -> bool:
        """Whether the call is now the caller's to finish: nobody else's, and its client there."""
        with self._lock:
            mine, self._claimed = not self._claimed, True
        return mine

    def read(self, handler: Handler) -> None:
        """Asks for a message; call it in a handler, for a call that may be over has none."""

        def received(event: Any) -> None:
            message = event.batch_operations[0].message()
            if self._claimed:
                return
            try:
                handler(self, message)
            except Exception:
                logger.exception("A gRPC call failed in the server.")
                refuse(self, grpc.StatusCode.INTERNAL, "The server failed; its log says why.")

        self._start((cygrpc.ReceiveMessageOperation(_NO_FLAGS),), received)

    def send(self, message: bytes, then: Callable[[], None] = _nothing) -> None:
        """Sends one message of several, unless the call was claimed.

        Args:
            message: The message.
            then: Called when it is on its way, as a handler is.
        """
        self._send((cygrpc.SendMessageOperation(message, _NO_FLAGS),), then)

    def finish(
        self, message: bytes | None = None, code: int = 0, details: str = "", trailer: Metadata = ()
    ) -> None:
        """Ends a call that was claimed, with a last message and OK, or with a status alone."""
        status = cygrpc.SendStatusFromServerOperation(
            tuple(trailer), code, details.encode("utf-8", "replace"), _NO_FLAGS
        )
        last = () if message is None else (cygrpc.SendMessageOperation(message, _NO_FLAGS),)
        self._send((*last, status), _nothing, finished=True)

    def begin(self) -> None:
        """Waits for the end of the call."""
        self._start((cygrpc.ReceiveCloseOnServerOperation(_NO_FLAGS),), self._end)

    def _end(self, event: Any) -> None:
        with self._lock:
            self._closed = True
            self._gone, self._claimed = not self._claimed, True
            self._finished |= self._gone
            act, self._when_gone = self._when_gone, _nothing
        if self._gone:
            act()

    def _send(
        self, operations: tuple[Any, ...], then: Callable[[], None], finished: bool = False
    ) -> None:
        with self._lock:
            if self._claimed and not finished:
                return
            self._finished |= finished
            if not self._headed:
                self._headed = True
                operations = (cygrpc.SendInitialMetadataOperation((), _NO_FLAGS), *operations)
            # The core takes one message at a time.
            if self._sending:
                self._unsent.append((operations, then))
                return
            self._sending = True
            # Counted before it is begun, or the call might be over in between.
            self._due += 1
        self._begin(operations, lambda event: self._sent(event, then))

    def _sent(self, event: Any, then: Callable[[], None]) -> None:
        if event.success:
            then()
        with self._lock:
            if not event.success or not self._unsent:
                self._unsent.clear()
                self._sending = False
                return
            operations, following = self._unsent.popleft()
        self._start(operations, lambda event: self._sent(event, following))

    def _start(self, operations: tuple[Any, ...], act: Callable[[Any], None]) -> None:
        with self._lock:
            self._due += 1
        self._begin(operations, act)

    def _begin(self, operations: tuple[Any, ...], act: Callable[[Any], None]) -> None:
        def done(event: Any) -> None:
            try:
                act(event)
            finally:
                with self._lock:
                    self._due -= 1
                    over = self._closed and self._finished and self._due == 0
                if over:
                    self._over()

        # Not under the lock: the core sends before it returns.
        self._call.start_server_batch(operations, done)


def refuse(rpc: Rpc, status: grpc.StatusCode, details: str) -> None:
    """Ends a call with a status, unless it is over."""
    if rpc.claim():
        rpc.finish(code=status.value[0], details=details)


@dataclasses.dataclass
class _Group:
    """Methods that share a number of calls; it is the polling thread's alone."""

    handlers: Mapping[str, Handler]
    calls: int = 0


class CoreServer:
    """Listens, and gives each call to the handler of its method.

    Args:
        handlers: By method, such as `/package.Service/Method`.
        options: gRPC's channel arguments.
        most_calls: More at once are refused with RESOURCE_EXHAUSTED.
        admit: Looks at a call first; it may claim it, and turn it away.
        beside: Handlers of other methods, which have as many calls for themselves: who watches the
            server must not take the place of who asks it.
        refused: Ends a call that has no handler, or none free.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        options: Sequence[tuple[str, Any]],
        most_calls: int,
        admit: Callable[[Rpc], None] = lambda rpc: None,
        beside: Mapping[str, Handler] = MappingProxyType({}),
        refused: Callable[[Rpc, grpc.StatusCode, str], None] = refuse,
    ):
        self._groups = (_Group(handlers), _Group(beside))
        self._refused = refused
        self._admit = admit
        self._most = most_calls
        # Both are the polling thread's alone.
        self._calls = 0
        self._asked = 0
        self._queue = cygrpc.CompletionQueue()
        self._server = cygrpc.Server(tuple(options), False)
        self._server.register_completion_queue(self._queue)
        # The core's server must not be destroyed under another thread's call.
        self._lock = threading.Lock()
        self._destroyed = False
        self._running = False
        self._stopping = False
        self._shut_down = False
        self._stopped = threading.Event()

    def listen(self, where: str, credentials: grpc.ServerCredentials | None = None) -> int:
        """Listens; returns the port, 0 if it cannot be had."""
        try:
            if credentials is None:
                return int(self._server.add_http2_port(where.encode()))
            return int(self._server.add_http2_port(where.encode(), credentials._credentials))
        except RuntimeError:
            return 0

    def start(self) -> None:
        """Starts to answer, in a thread of its own."""
        self._running = True
        self._server.start()
        for _ in range(_CALLS_AHEAD):
            self._ask()
        threading.Thread(target=self._serve, name="grpc", daemon=True).start()

    def stop(self, seconds: float) -> threading.Event:
        """Takes no new call, and ends those that are not over in so many seconds.

        Returns:
            An event that is set when all are over.
        """
        if not self._running:
            # The core does not let go of the port of a server that never started.
            self.start()
        with self._lock:
            if self._stopping:
                return self._stopped
            self._stopping = True
            self._server.shutdown(self._queue, self._note_shutdown)

        def cancel() -> None:
            if not self._stopped.wait(seconds):
                with self._lock:
                    if not self._destroyed:
                        self._server.cancel_all_calls()

        threading.Thread(target=cancel, name="grpc-stop", daemon=True).start()
        return self._stopped

    def _note_shutdown(self, event: Any) -> None:
        self._shut_down = True

    def _serve(self) -> None:
        while not (self._shut_down and self._asked == 0 and self._calls == 0):
            event = self._queue.poll()
            try:
                event.tag(event)
            except Exception:
                logger.exception("gRPC could not be answered.")
            # A call that is held by its last event is not over for the core.
            event = None
        with self._lock:
            self._destroyed = True
            self._server.destroy()
        self._queue.shutdown()
        while self._queue.poll().completion_type != cygrpc.CompletionType.queue_shutdown:
            pass
        self._stopped.set()

    def _ask(self) -> None:
        # A server that is being shut down cannot be asked.
        with suppress(ValueError):
            self._server.request_call(self._queue, self._queue, self._take)
            self._asked += 1

    def _take(self, event: Any) -> None:
        self._asked -= 1
        if not event.success:
            return
        self._ask()
        self._calls += 1
        method = event.call_details.method.decode("utf-8", "replace")
        group = next((group for group in self._groups if method in group.handlers), None)
        rpc = Rpc(method, event, lambda: self._count_off(group))
        rpc.begin()
        if group is None:
            self._refused(rpc, grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
            return
        group.calls += 1
        if group.calls > self._most:
            details = "Concurrent RPC limit exceeded!"
            self._refused(rpc, grpc.StatusCode.RESOURCE_EXHAUSTED, details)
        else:
            self._admit(rpc)
            rpc.read(group.handlers[method])

    def _count_off(self, group: _Group | None) -> None:
        self._calls -= 1
        if group is not None:
            group.calls -= 1
