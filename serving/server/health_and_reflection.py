"""gRPC's health and reflection services; their streams end with the server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

_States = health_pb2.HealthCheckResponse
Behaviour = Callable[[Any, Any], Awaitable[Any]]
Limit = Callable[[Behaviour], Behaviour]


class Streams:
    """The streams that are open, which a stop must not wait for."""

    def __init__(self) -> None:
        self._open: set[Any] = set()
        self._ended = False

    def end(self) -> None:
        """Ends the streams that are open, and those to come."""
        self._ended = True
        for task in self._open:
            task.cancel()

    def ending(self, stream: Behaviour) -> Behaviour:
        """The stream, but that the client is told when the server ends it."""

        async def until_the_end(request: Any, context: Any) -> Any:
            task = asyncio.current_task()
            self._open.add(task)
            try:
                if not self._ended:
                    return await stream(request, context)
            except asyncio.CancelledError:
                if not self._ended:
                    raise
            finally:
                self._open.discard(task)
            await context.abort(grpc.StatusCode.UNAVAILABLE, "The server is stopping.")

        return until_the_end


class Health:
    """The health service: one state for the server and all its services.

    The official one for asyncio forgets who else watches when one watcher leaves.

    Args:
        services: Their names.
        streams: Those that are open.
    """

    def __init__(self, services: Iterable[str], streams: Streams):
        self._services = {"", *services}
        self._streams = streams
        self._changed = asyncio.Condition()
        self._state = _States.NOT_SERVING

    def handlers(self, limit: Limit) -> dict[str, grpc.RpcMethodHandler]:
        """By method; `limit` holds each to a number of calls at once."""
        service = f"/{health.SERVICE_NAME}"
        coding = (
            health_pb2.HealthCheckRequest.FromString,
            health_pb2.HealthCheckResponse.SerializeToString,
        )
        check, watch = limit(self._check), limit(self._streams.ending(self._watch))
        return {
            f"{service}/Check": grpc.unary_unary_rpc_method_handler(check, *coding),
            f"{service}/Watch": grpc.unary_stream_rpc_method_handler(watch, *coding),
        }

    async def set(self, healthy: bool) -> None:
        """Tells all who ask or watch."""
        state = _States.SERVING if healthy else _States.NOT_SERVING
        if state != self._state:
            self._state = state
            async with self._changed:
                self._changed.notify_all()

    def _of(self, service: str) -> health_pb2.HealthCheckResponse:
        state = self._state if service in self._services else _States.SERVICE_UNKNOWN
        return health_pb2.HealthCheckResponse(status=state)

    async def _check(self, request: Any, context: Any) -> health_pb2.HealthCheckResponse:
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND)
        return self._of(request.service)

    async def _watch(self, request: Any, context: Any) -> None:
        while True:
            said = self._of(request.service)
            await context.write(said)
            async with self._changed:
                while self._of(request.service) == said:
                    await self._changed.wait()


def reflection_handlers(
    services: Iterable[str], streams: Streams, limit: Limit
) -> dict[str, grpc.RpcMethodHandler]:
    """The reflection service, answered by the official one.

    Args:
        services: Names of the services.
        streams: Those that are open.
        limit: Holds each method to a number of calls at once.
    """
    official = reflection.aio.ReflectionServicer(services)

    async def answer(requests: AsyncIterator[Any], context: Any) -> None:
        async for response in official.ServerReflectionInfo(requests, context):
            await context.write(response)

    return {
        f"/{reflection.SERVICE_NAME}/ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(
            limit(streams.ending(answer)),
            reflection_pb2.ServerReflectionRequest.FromString,
            reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
    }
