"""gRPC's health and reflection services; their streams end with the server."""

import threading
from collections.abc import Iterable, Mapping

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from pairloom.serving.server.grpc_core import Handler, Rpc, refuse

_States = health_pb2.HealthCheckResponse


class Health:
    """The health service: one state for the server and all its services. Safe for threads.

    Args:
        services: Their names.
    """

    def __init__(self, services: Iterable[str]):
        self._services = {"", *services}
        self._lock = threading.Lock()
        self._state = _States.NOT_SERVING
        self._watching: dict[Rpc, str] = {}
        self._ended = False

    def handlers(self) -> Mapping[str, Handler]:
        """By method."""
        service = f"/{health.SERVICE_NAME}"
        return {f"{service}/Check": self._check, f"{service}/Watch": self._watch}

    def set(self, healthy: bool) -> None:
        """Tells all who ask or watch."""
        with self._lock:
            state = _States.SERVING if healthy else _States.NOT_SERVING
            watching = self._watching if state != self._state else {}
            self._state = state
            for rpc, service in watching.items():
                if service in self._services:
                    rpc.send(self._answer(service))

    def end(self) -> None:
        """Ends the streams that are open, and those to come."""
        with self._lock:
            self._ended = True
            watching = list(self._watching)
        for rpc in watching:
            _say_goodbye(rpc)

    def _answer(self, service: str) -> bytes:
        state = self._state if service in self._services else _States.SERVICE_UNKNOWN
        return health_pb2.HealthCheckResponse(status=state).SerializeToString()

    def _check(self, rpc: Rpc, raw: bytes | None) -> None:
        service = _service(raw)
        if service not in self._services:
            refuse(rpc, grpc.StatusCode.NOT_FOUND, "")
        elif rpc.claim():
            rpc.finish(self._answer(service))

    def _watch(self, rpc: Rpc, raw: bytes | None) -> None:
        with self._lock:
            self._watching[rpc] = _service(raw)
            rpc.send(self._answer(self._watching[rpc]))
            ended = self._ended
        rpc.when_gone(lambda: self._leave(rpc))
        if ended:
            _say_goodbye(rpc)

    def _leave(self, rpc: Rpc) -> None:
        with self._lock:
            self._watching.pop(rpc, None)


class Reflection:
    """The reflection service, answered by the official one.

    Args:
        services: Names of the services.
    """

    def __init__(self, services: Iterable[str]):
        self._official = reflection.ReflectionServicer(services)
        self._lock = threading.Lock()
        self._open: set[Rpc] = set()
        self._ended = False

    def handlers(self) -> Mapping[str, Handler]:
        """By method."""
        return {f"/{reflection.SERVICE_NAME}/ServerReflectionInfo": self._begin}

    def end(self) -> None:
        """Ends the streams that are open, and those to come."""
        with self._lock:
            self._ended = True
            streams = list(self._open)
        for rpc in streams:
            _say_goodbye(rpc)

    def _begin(self, rpc: Rpc, raw: bytes | None) -> None:
        with self._lock:
            self._open.add(rpc)
            ended = self._ended
        rpc.when_gone(lambda: self._leave(rpc))
        if ended:
            _say_goodbye(rpc)
        else:
            self._go_on(rpc, raw)

    def _go_on(self, rpc: Rpc, raw: bytes | None) -> None:
        if raw is None:
            if rpc.claim():
                rpc.finish(code=0)
                self._leave(rpc)
            return
        try:
            request = reflection_pb2.ServerReflectionRequest.FromString(raw)
        except DecodeError:
            refuse(rpc, grpc.StatusCode.INTERNAL, "The request is no ServerReflectionRequest.")
            self._leave(rpc)
            return
        [response] = self._official.ServerReflectionInfo(iter((request,)), None)
        # Who does not take its answers is not asked for more questions.
        rpc.send(response.SerializeToString(), then=lambda: rpc.read(self._go_on))

    def _leave(self, rpc: Rpc) -> None:
        with self._lock:
            self._open.discard(rpc)


def _service(raw: bytes | None) -> str:
    try:
        return health_pb2.HealthCheckRequest.FromString(raw or b"").service
    except DecodeError:
        # No service is called so.
        return "\0"


def _say_goodbye(rpc: Rpc) -> None:
    refuse(rpc, grpc.StatusCode.UNAVAILABLE, "The server is stopping.")
