"""The gRPC server: TF Serving's services, with health and reflection beside them."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote

import grpc
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from pairloom.serving.server.call import Call
from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.core import Core
from pairloom.serving.server.errors import Code, NotFound, PortInUse, RequestError
from pairloom.serving.server.grpc_services import MODEL, PREDICTION, Method, methods
from pairloom.serving.server.health_and_reflection import (
    Behaviour,
    Health,
    Streams,
    reflection_handlers,
)
from pairloom.serving.server.listening import host_port, port_in_use, port_problem
from pairloom.serving.server.options import grpc_arguments
from pairloom.serving.wire import MODELS_KEY

logger = logging.getLogger("pairloom.serving")

# More at once are refused.
MOST_CALLS = 512
# Each is an open file, of which `raise_file_limit` sees to it that there are enough.
MOST_CONNECTIONS = 8192
_IDLE_SECONDS = 300
_AGE_SECONDS = 3600
_HANDSHAKE_SECONDS = 10
_RELOAD = f"/{MODEL}/HandleReloadConfigRequest"
# Probes have no token.
_OPEN_METHODS = f"/{health.SERVICE_NAME}/"
# What is somewhat too large is refused by us, who can name the limit; the rest by gRPC.
_TOO_LARGE = 4
_LARGEST_INT = 2**31 - 1
# Of a method that a client made up.
_LONGEST_NAME = 100
# They travel in a header, which has at most 8 KB.
_MOST_NAMES = 20
_SHOWN = "authorization"
_FAREWELL_SECONDS = 0.5

# grpc.aio's `ServicerContext`, which has no types of its own.
Context: TypeAlias = Any


class GrpcFront(grpc.GenericRpcHandler):
    """The gRPC server.

    Args:
        core: The models, and what they are asked with.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.

    Raises:
        PortInUse: The port or the socket cannot be had.
    """

    def __init__(self, core: Core, reload: Callable[[Any, float | None], None]):
        self._core = core
        self._loop = core.loop
        self._monitor = core.monitor
        self._token = core.files.token
        self._admin = core.files.admin or core.files.token
        self.port = self._loop.run(self._listen(methods(core, reload)))

    async def _listen(self, served: Mapping[str, Method]) -> int:
        """Opens the ports; what asyncio stands on is made where it will run."""
        self._streams = Streams()
        self._health = Health((PREDICTION, MODEL), self._streams)
        # Who watches the server must not take the place of who asks it.
        requests, watchers = asyncio.Semaphore(MOST_CALLS), asyncio.Semaphore(MOST_CALLS)
        names = (PREDICTION, MODEL, health.SERVICE_NAME, reflection.SERVICE_NAME)
        self._handlers = {
            **{
                path: grpc.unary_unary_rpc_method_handler(
                    self._limited(requests, self._unary(path, method))
                )
                for path, method in served.items()
            },
            **self._health.handlers(lambda b: self._limited(watchers, b)),
            **reflection_handlers(names, self._streams, lambda b: self._limited(watchers, b)),
        }
        options = self._core.options
        channel: dict[str, int | str] = {
            # Else a second server on the port would take half of the requests.
            "grpc.so_reuseport": 0,
            "grpc.max_receive_message_length": min(
                _TOO_LARGE * options.max_message_bytes, _LARGEST_INT
            ),
            "grpc.max_send_message_length": -1,
            # Whoever only keeps connections open must not keep others out.
            "grpc.max_allowed_incoming_connections": MOST_CONNECTIONS,
            "grpc.max_connection_idle_ms": 1000 * _IDLE_SECONDS,
            "grpc.max_connection_age_ms": 1000 * _AGE_SECONDS,
            "grpc.max_connection_age_grace_ms": 1000 * _AGE_SECONDS,
            "grpc.server_handshake_timeout_ms": 1000 * _HANDSHAKE_SECONDS,
            # Of two arguments of one name gRPC may take either: a given one replaces ours.
            **dict(grpc_arguments(options.grpc_channel_arguments)),
        }
        self._server = grpc.aio.server(
            handlers=(self,),
            options=list(channel.items()),
            # Those counted here, and as many whose message is still on the way.
            maximum_concurrent_rpcs=4 * MOST_CALLS,
        )
        tls = self._core.files.tls
        port = self._open(host_port(options.bind_address, options.port), tls)
        if not port:
            unknown = "gRPC could not listen there" + ", or not with this certificate" * bool(tls)
            problem = port_problem(options.bind_address, options.port) or unknown
            raise port_in_use("port", options.bind_address, options.port, problem)
        # gRPC itself clears away the socket that a past server left behind.
        path = options.grpc_socket_path
        if path and not self._open(f"unix:{path}", tls):
            raise PortInUse(
                f"Cannot listen on unix:{path} (--grpc_socket_path): expected a path of at most "
                "107 bytes to a socket, or to nothing, in a folder that this user may write to."
            )
        return port

    def _open(self, where: str, tls: TlsSettings | None) -> int:
        """Listens; returns the port, 0 if it cannot be had."""
        try:
            if tls is None:
                return self._server.add_insecure_port(where)
            pair, root = (tls.key, tls.certificate), tls.authority or None
            proof = grpc.ssl_server_credentials([pair], root, tls.client_verify)
            return self._server.add_secure_port(where, proof)
        except RuntimeError:
            return 0

    def service(self, handler_call_details: Any) -> grpc.RpcMethodHandler:
        """Finds the handler of a call that has begun, before any message of it is read."""
        path, metadata = handler_call_details.method, handler_call_details.invocation_metadata
        try:
            token = self._admin if path == _RELOAD else self._token
            if not path.startswith(_OPEN_METHODS):
                token.check(_header(metadata, _SHOWN))
            if path not in self._handlers:
                raise RequestError(Code.UNIMPLEMENTED, "Method not found!")
        except RequestError as error:
            # Of this kind, for then nothing is read.
            refuse = partial(self._refuse, path, error)
            return grpc.stream_stream_rpc_method_handler(refuse)
        return self._handlers[path]

    def _unary(self, path: str, method: Method) -> Behaviour:
        """A method of ours: counted, logged, and its errors told."""

        async def behaviour(raw: bytes, context: Context) -> bytes:
            call = _call(context)
            call.caller = self._token.owner(_header(context.invocation_metadata(), _SHOWN)) or ""
            try:
                with self._monitor.watch(call, _api(path), "GRPC"):
                    return await method(raw, call)
            except RequestError as error:
                problem = error
            except Exception:
                logger.exception("A gRPC request failed in the server.")
                problem = RequestError(Code.INTERNAL, "The server failed; its log says why.")
            return await _abort(context, problem)

        return behaviour

    def _limited(self, slots: asyncio.Semaphore, behaviour: Behaviour) -> Behaviour:
        async def limited(request: Any, context: Context) -> Any:
            if slots.locked():
                too_many = RequestError(Code.RESOURCE_EXHAUSTED, "Concurrent RPC limit exceeded!")
                return await self._refuse("-", too_many, request, context)
            async with slots:
                return await behaviour(request, context)

        return limited

    async def _refuse(self, path: str, error: RequestError, request: Any, context: Context) -> Any:
        call = _call(context)
        call.api = _api(path)
        self._monitor.note(call, "GRPC", error.code, error.message)
        await _abort(context, error)

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._loop.run(self._server.start())

    def say_healthy(self, healthy: bool) -> None:
        """Tells the health service's clients whether requests can be answered."""
        self._loop.run(self._health.set(healthy))

    async def drain(self, seconds: float) -> None:
        """Takes no new request, and waits so long for those under way."""
        await self._health.set(False)
        stopped = asyncio.create_task(self._server.stop(seconds))
        # Those who watch shall hear it first.
        await asyncio.sleep(_FAREWELL_SECONDS)
        self._streams.end()
        await stopped


def _call(context: Context) -> Call:
    given = _header(context.invocation_metadata(), "x-request-id") or ""
    call = Call.within(context.time_remaining(), id=given)
    # Encoded, as an address: `ipv6:%5B::1%5D:50000`.
    call.peer = unquote(context.peer())
    return call


def _api(path: str) -> str:
    return path.rpartition("/")[2][:_LONGEST_NAME]


def _header(metadata: Sequence[tuple[str, str | bytes]] | None, name: str) -> str | None:
    """The first value of a header."""
    found = next((value for key, value in metadata or () if key == name), None)
    return found.decode("latin-1") if isinstance(found, bytes) else found


async def _abort(context: Context, error: RequestError) -> Any:
    names = error.models[:_MOST_NAMES] if isinstance(error, NotFound) else ()
    # Beside the status, whose words are TF Serving's.
    trailing = ((MODELS_KEY, json.dumps(names)),) if names else ()
    return await context.abort(grpc.StatusCode[error.code.name], error.message, trailing)
