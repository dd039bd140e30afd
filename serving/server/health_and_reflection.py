"""Health and reflection: their streams have no end of their own, so the server's end is theirs."""

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import grpc
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection


class OpenStreams:
    """The streams that are open. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[grpc.ServicerContext] = set()
        self._ended = False

    def add(self, context: grpc.ServicerContext) -> None:
        """Notes a stream until its client or `end` ends it."""
        with self._lock:
            self._open.add(context)
            ended = self._ended
        if not context.add_callback(lambda: self._remove(context)):
            self._remove(context)
        if ended:
            context.cancel()

    def end(self) -> None:
        """Ends all, and those that begin from now on."""
        with self._lock:
            self._ended = True
            streams = list(self._open)
        for context in streams:
            context.cancel()

    def _remove(self, context: grpc.ServicerContext) -> None:
        with self._lock:
            self._open.discard(context)


class Health(health.HealthServicer):
    """The official health service; `Watch` is among the streams."""

    def __init__(self, streams: OpenStreams):
        super().__init__()
        self._streams = streams

    def Watch(self, request: Any, context: grpc.ServicerContext, *callback: Any, **named: Any):
        self._streams.add(context)
        return super().Watch(request, context, *callback, **named)


class Reflection(reflection.ReflectionServicer):
    """The official reflection service, all of which is streams."""

    def __init__(self, names: Iterable[str], streams: OpenStreams):
        super().__init__(names)
        self._streams = streams

    def ServerReflectionInfo(
        self, request_iterator: Iterator[Any], context: grpc.ServicerContext
    ) -> Iterator[Any]:
        self._streams.add(context)
        return super().ServerReflectionInfo(request_iterator, context)
