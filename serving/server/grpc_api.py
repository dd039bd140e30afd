"""The gRPC server: TF Serving's services, with health and reflection beside them."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from pairloom.serving.server.access import Token
from pairloom.serving.server.call import Call
from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.errors import PortInUse, RequestError
from pairloom.serving.server.event_loop import event_loop
from pairloom.serving.server.grpc_services import MODEL, MOST_CALLS, PREDICTION, Services, answer
from pairloom.serving.server.health_and_reflection import Health, Reflection, Stop
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.options import ServerOptions, grpc_arguments
from pairloom.serving.server.registry import Registry

# Probes have no token.
_OPEN_METHODS = "/grpc.health.v1.Health/"


class TokenInterceptor(grpc.aio.ServerInterceptor):
    """Turns away gRPC calls without the token."""

    def __init__(self, token: Token, monitor: Monitor):
        self._token = token
        self._monitor = monitor

    async def intercept_service(self, continuation: Callable, details: Any) -> Any:
        if details.method.startswith(_OPEN_METHODS):
            return await continuation(details)
        headers = [value for key, value in details.invocation_metadata if key == "authorization"]
        try:
            self._token.check(headers[0] if headers else None)
        except RequestError as error:
            return self._refusal(details.method.rpartition("/")[2], error)
        return await continuation(details)

    def _refusal(self, api: str, error: RequestError) -> grpc.RpcMethodHandler:
        async def refuse(call: Call) -> bytes:
            raise error

        async def handle(_: bytes, context: grpc.aio.ServicerContext) -> bytes:
            return await answer(context, self._monitor, api, refuse)

        return grpc.unary_unary_rpc_method_handler(handle)


class GrpcFront:
    """The gRPC server.

    Args:
        registry: The models.
        options: Where and how to listen.
        monitor: Watches the requests.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
        tls: Keys and certificates; None: plain.
        token: What callers must show; None: nothing.
    """

    def __init__(
        self,
        registry: Registry,
        options: ServerOptions,
        monitor: Monitor,
        reload: Callable[[Any, float | None], None],
        tls: TlsSettings | None = None,
        token: Token | None = None,
    ):
        self._loop = event_loop()
        self._services = Services(registry, monitor, reload)
        interceptors = [TokenInterceptor(token, monitor)] if token else []
        self._loop.run(self._build(options, interceptors))
        self.port = self._listen(options, tls)
        if options.grpc_socket_path:
            self._listen_locally(options.grpc_socket_path, tls)

    async def _build(self, options: ServerOptions, interceptors: list) -> None:
        self._server = grpc.aio.server(
            # More are refused at once, with RESOURCE_EXHAUSTED, and do not pile up unseen.
            maximum_concurrent_rpcs=MOST_CALLS,
            handlers=self._services.handlers(),
            interceptors=interceptors,
            options=[
                # Otherwise a second server on the same port starts, and takes half of the requests.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", options.max_message_bytes),
                ("grpc.max_send_message_length", -1),
                *grpc_arguments(options.grpc_channel_arguments),
            ],
        )
        self._stop = Stop()
        self._health = Health((PREDICTION, MODEL), self._stop)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (PREDICTION, MODEL, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(
            Reflection(names, self._stop), self._server
        )

    def _listen(self, options: ServerOptions, tls: TlsSettings | None) -> int:
        where = host_port(options.bind_address, options.port)
        port = self._add_port(where, tls)
        if not port:
            problem = port_problem(options.bind_address, options.port) or (
                "gRPC could not listen there" + (", or not with this certificate" if tls else "")
            )
            raise PortInUse(f"Cannot listen on {where} (--port): {problem}.")
        return port

    def _listen_locally(self, path: str, tls: TlsSettings | None) -> None:
        # gRPC itself clears away the socket that a past server left behind.
        if not self._add_port(f"unix:{path}", tls):
            raise PortInUse(
                f"Cannot listen on unix:{path} (--grpc_socket_path): expected a path of at most "
                "107 bytes to a socket, or to nothing, in a folder that this user may write to."
            )

    def _add_port(self, where: str, tls: TlsSettings | None) -> int:
        """Adds an address to listen on; 0 if that cannot be."""
        try:
            if tls is None:
                return self._server.add_insecure_port(where)
            credentials = grpc.ssl_server_credentials(
                [(tls.key, tls.certificate)], tls.authority or None, tls.client_verify
            )
            return self._server.add_secure_port(where, credentials)
        except RuntimeError:
            return 0

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._loop.run(self._server.start())

    def say_healthy(self, healthy: bool) -> None:
        """Tells the health service's clients whether requests can be answered."""
        self._loop.loop.call_soon_threadsafe(self._health.set, healthy)

    def drain(self, seconds: float) -> "Future[None]":
        """Takes no new request; returns what is done when those under way are answered."""
        return self._loop.start(self._drain(seconds))

    async def _drain(self, seconds: float) -> None:
        # gRPC does not let go of the port of a server that never started.
        await self._server.start()
        self._health.set(False)
        self._stop.say()
        await self._server.stop(seconds)
        self._services.close()
