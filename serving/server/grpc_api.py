"""The gRPC server: TF Serving's services, with health and reflection beside them."""

import threading
from collections.abc import Callable
from typing import Any

import grpc
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from pairloom.serving.server.access import Token
from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.errors import Code, PortInUse, RequestError
from pairloom.serving.server.grpc_core import CoreServer, Rpc
from pairloom.serving.server.grpc_services import (
    MODEL,
    MOST_CALLS,
    PREDICTION,
    Answering,
    Services,
)
from pairloom.serving.server.health_and_reflection import Health, Reflection
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.options import ServerOptions, grpc_arguments
from pairloom.serving.server.registry import Registry

# Probes have no token.
_OPEN_METHODS = f"/{health.SERVICE_NAME}/"
# What is somewhat too large is refused by us, who can name the limit; the rest by gRPC.
_TOO_LARGE = 4
_LARGEST_INT = 2**31 - 1
# Of a method that a client made up.
_LONGEST_NAME = 100


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
        self._monitor = monitor
        self._token = token
        self._services = Services(registry, monitor, reload, options.max_message_bytes)
        self._health = Health((PREDICTION, MODEL))
        self._reflection = Reflection(
            (PREDICTION, MODEL, health.SERVICE_NAME, reflection.SERVICE_NAME)
        )
        self._server = CoreServer(
            self._services.handlers(),
            options=[
                # Otherwise a second server on the same port starts, and takes half of the requests.
                ("grpc.so_reuseport", 0),
                (
                    "grpc.max_receive_message_length",
                    min(_TOO_LARGE * options.max_message_bytes, _LARGEST_INT),
                ),
                ("grpc.max_send_message_length", -1),
                *grpc_arguments(options.grpc_channel_arguments),
            ],
            most_calls=MOST_CALLS,
            admit=self._admit,
            beside={**self._health.handlers(), **self._reflection.handlers()},
            refused=self._refuse,
        )
        self.port = self._listen(options, tls)
        if options.grpc_socket_path:
            self._listen_locally(options.grpc_socket_path, tls)

    def _listen(self, options: ServerOptions, tls: TlsSettings | None) -> int:
        where = host_port(options.bind_address, options.port)
        port = self._server.listen(where, _credentials(tls))
        if not port:
            problem = port_problem(options.bind_address, options.port) or (
                "gRPC could not listen there" + (", or not with this certificate" if tls else "")
            )
            raise PortInUse(f"Cannot listen on {where} (--port): {problem}.")
        return port

    def _listen_locally(self, path: str, tls: TlsSettings | None) -> None:
        # gRPC itself clears away the socket that a past server left behind.
        if not self._server.listen(f"unix:{path}", _credentials(tls)):
            raise PortInUse(
                f"Cannot listen on unix:{path} (--grpc_socket_path): expected a path of at most "
                "107 bytes to a socket, or to nothing, in a folder that this user may write to."
            )

    def _admit(self, rpc: Rpc) -> None:
        """Turns away calls without the token."""
        if not self._token or rpc.method.startswith(_OPEN_METHODS):
            return
        try:
            self._token.check(rpc.header("authorization"))
        except RequestError as error:
            self._answering(rpc).fail(error)

    def _refuse(self, rpc: Rpc, status: grpc.StatusCode, details: str) -> None:
        self._answering(rpc).fail(RequestError(Code(status.value[0]), details))

    def _answering(self, rpc: Rpc) -> Answering:
        return Answering(rpc, rpc.method.rpartition("/")[2][:_LONGEST_NAME], self._monitor)

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._server.start()

    def say_healthy(self, healthy: bool) -> None:
        """Tells the health service's clients whether requests can be answered."""
        self._health.set(healthy)

    def drain(self, seconds: float) -> threading.Event:
        """Takes no new request; returns an event that is set when those under way are answered."""
        self._health.set(False)
        done = self._server.stop(seconds)
        self._health.end()
        self._reflection.end()
        return done

    def close(self) -> None:
        """Lets the threads go, each when it is done."""
        self._services.close()


def _credentials(tls: TlsSettings | None) -> grpc.ServerCredentials | None:
    if tls is None:
        return None
    return grpc.ssl_server_credentials(
        [(tls.key, tls.certificate)], tls.authority or None, tls.client_verify
    )
