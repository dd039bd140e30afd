"""Health and reflection: their streams have no end of their own, so the server's end is theirs."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

_States = health_pb2.HealthCheckResponse


class Stop:
    """Ends streams. For the event loop's thread."""

    def __init__(self) -> None:
        self._said = asyncio.Event()

    def say(self) -> None:
        """Ends all, and those that begin from now on."""
        self._said.set()

    async def first(self, awaitable: Any, context: grpc.aio.ServicerContext) -> Any:
        """What `awaitable` gives, unless the stop comes before it; then the stream is over."""
        wanted, stop = asyncio.ensure_future(awaitable), asyncio.ensure_future(self._said.wait())
        try:
            await asyncio.wait((wanted, stop), return_when=asyncio.FIRST_COMPLETED)
            if not wanted.done():
                await context.abort(grpc.StatusCode.UNAVAILABLE, "The server is stopping.")
            return wanted.result()
        finally:
            wanted.cancel()
            stop.cancel()


class Health(health_pb2_grpc.HealthServicer):
    """The health service. gRPC's own for asyncio forgets all watchers of a service when one goes.

    Args:
        services: Names of the services, besides the empty one for the server as a whole.
        stop: Ends `Watch`.
    """

    def __init__(self, services: Iterable[str], stop: Stop):
        self._services = {"", *services}
        self._stop = stop
        self._state = _States.NOT_SERVING
        self._changed = asyncio.Event()

    def set(self, healthy: bool) -> None:
        """Tells all who ask or watch; call it in the loop's thread."""
        self._state = _States.SERVING if healthy else _States.NOT_SERVING
        self._changed.set()
        self._changed = asyncio.Event()

    def state(self, service: str = "") -> int:
        """A service's state now."""
        return self._state if service in self._services else _States.SERVICE_UNKNOWN

    async def Check(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "")
        return health_pb2.HealthCheckResponse(status=self._state)

    async def Watch(self, request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        said = None
        while True:
            changed = self._changed
            if said != (state := self.state(request.service)):
                said = state
                yield health_pb2.HealthCheckResponse(status=state)
            await self._stop.first(changed.wait(), context)


class Reflection(reflection.aio.ReflectionServicer):
    """The official reflection service, all of which is streams.

    Args:
        names: Of the services.
        stop: Ends the streams.
    """

    def __init__(self, names: Iterable[str], stop: Stop):
        super().__init__(names)
        self._stop = stop

    async def ServerReflectionInfo(
        self, request_iterator: Any, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[Any]:
        answers = super().ServerReflectionInfo(request_iterator, context)
        while (answer := await self._stop.first(anext(answers, None), context)) is not None:
            yield answer
