"""REST and the page over HTTP/1.1, by uvicorn and h11: connections, bodies, answers, draining.

Of the open connections there are at most so many, and none that only waits keeps another out.
"""

import asyncio
import logging
import socket
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.event_loop import server_loop
from pairloom.serving.server.listening import host_port, port_in_use, port_problem
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.rest_api import Answer, HttpRequest, RestApi, error_answer
from pairloom.serving.server.rest_body import Body, Receive, Room

logger = logging.getLogger("pairloom.serving")

Peer = tuple[str, int]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# How long a client may go on sending a body that is not wanted.
_LINGER_SECONDS = 1.0
# How long a connection may bring no whole head, or stay open for a next request.
_PATIENCE_SECONDS = 60


class Connections:
    """Knows which connections wait for a request and which are at work; the event loop's alone.

    One that brings no whole request within `seconds` is closed. When there are too many, so is the
    one that has waited longest, for a new one.

    Args:
        most: How many there may be.
        seconds: How long a request's head may take, from the connection's opening or from its
            first byte.
    """

    def __init__(self, most: int, seconds: float):
        self._most = most
        self.seconds = seconds
        # In the order in which they began to wait for a whole request.
        self._waiting: dict[Peer, asyncio.Transport] = {}
        self.working: dict[Peer, asyncio.Transport] = {}
        """Those whose requests are being answered."""
        self._timers: dict[Peer, asyncio.TimerHandle] = {}

    def open(self, peer: Peer, transport: asyncio.Transport) -> None:
        """A new connection, which may take an old one's place."""
        if self._waiting and len(self._waiting) + len(self.working) >= self._most:
            self._waiting[next(iter(self._waiting))].close()
        self._waiting[peer] = transport
        self.hear(peer)

    def hear(self, peer: Peer) -> None:
        """Something came, which must be a whole head in time."""
        if peer in self._waiting and peer not in self._timers:
            loop = asyncio.get_running_loop()
            abort = self._waiting[peer].abort
            self._timers[peer] = loop.call_later(self.seconds, abort)

    def heard(self, peer: Peer) -> None:
        """A request's head is there."""
        if peer in self._timers:
            self._timers.pop(peer).cancel()

    def begin(self, peer: Peer) -> bool:
        """A request is whole; False if too many others are at work already."""
        if peer in self._waiting:
            self.working[peer] = self._waiting.pop(peer)
        return len(self.working) <= self._most

    def end(self, peer: Peer) -> None:
        """The request is answered."""
        if peer in self.working:
            self._waiting[peer] = self.working.pop(peer)

    def close(self, peer: Peer) -> None:
        """The connection is closed."""
        self.heard(peer)
        self._waiting.pop(peer, None)
        self.working.pop(peer, None)

    def protocol(self) -> type[asyncio.Protocol]:
        """Uvicorn's HTTP, watched by this."""
        connections = self

        class Watched(H11Protocol):
            def connection_made(self, transport: Any) -> None:
                # As uvicorn itself names it in a request's scope.
                self._peer = tuple((transport.get_extra_info("peername") or ("", 0))[:2])
                connections.open(self._peer, transport)
                super().connection_made(transport)

            def data_received(self, data: bytes) -> None:
                connections.hear(self._peer)
                super().data_received(data)

            def connection_lost(self, exc: Exception | None) -> None:
                connections.close(self._peer)
                super().connection_lost(exc)

        return Watched


class RestFront:
    """Serves a `RestApi`.

    Args:
        api: What answers.
        options: Where to listen, and what connections and bodies may take.
        tls: Keys and certificates, for where the options want them.

    Raises:
        PortInUse: The port cannot be had.
    """

    def __init__(self, api: RestApi, options: ServerOptions, tls: TlsSettings | None = None):
        self._api = api
        self._loop = server_loop()
        self._room = Room(min(options.rest_api_max_body_bytes, options.max_message_bytes))
        self.connections = Connections(options.rest_api_max_connections, _PATIENCE_SECONDS)
        address = (options.bind_address, options.rest_api_port)
        try:
            self._socket = _listen(address)
        except OSError as error:
            problem = port_problem(*address) or str(error)
            raise port_in_use("rest_api_port", *address, problem) from None
        self.port = int(self._socket.getsockname()[1])
        context = _context_of(tls) if tls is not None and options.rest_api_ssl else None
        config = uvicorn.Config(
            self._answer,
            http=self.connections.protocol(),
            interface="asgi3",
            ws="none",
            lifespan="off",
            # Whoever sends what is no HTTP could fill the log.
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_PATIENCE_SECONDS,
            ssl_context_factory=(lambda *_: context) if context is not None else None,
        )
        self._server = uvicorn.Server(config)

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._loop.run(self._start())

    async def _start(self) -> None:
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started:
            await asyncio.sleep(0.01)

    async def drain(self, seconds: float) -> bool:
        """Takes no new connection, and waits for the requests under way.

        Returns:
            Whether all of them were answered in time.
        """
        self._server.should_exit = True
        done, _ = await asyncio.wait([self._serving], timeout=seconds)
        self._server.force_exit = True
        return bool(done)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        # Of several of one name the first holds.
        pairs = reversed(scope["headers"])
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        body = Body(headers, receive, self._room)
        self.connections.heard(scope["client"])
        try:
            answer = await self._ask(scope, headers, body)
            await _send(answer, body, send, body.unread or self._server.should_exit)
        finally:
            body.release()
            self.connections.end(scope["client"])

    async def _ask(self, scope: Any, headers: dict[str, str], body: Body) -> Answer:
        async def read() -> bytes:
            raw = await body.read()
            # Only now, for whoever sends a body slowly must not keep others out.
            if not self.connections.begin(scope["client"]):
                raise RequestError(
                    Code.UNAVAILABLE,
                    "The server has too many connections, all of them at work.",
                )
            return raw

        peer = host_port(*(scope["client"] or ("", 0)))
        path = _path(scope["raw_path"])
        try:
            return await self._api.handle(
                HttpRequest(scope["method"], path, read, headers, body.awaited, peer)
            )
        except Exception:
            logger.exception("A REST request failed in the server.")
            failure = RequestError(Code.INTERNAL, "The server failed; its log says why.")
            return error_answer(failure)


def _path(target: bytes) -> str:
    """A target's path; a proxy's has an address before it."""
    text = target.decode("latin-1")
    try:
        return urlsplit(text).path
    except ValueError:
        return text


async def _send(answer: Answer, body: Body, send: Send, last: bool) -> None:
    headers = [
        ("Content-Type", answer.content_type),
        ("Content-Length", str(len(answer.body))),
        *answer.headers,
        *([("Connection", "close")] if last else []),
    ]
    packed = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": packed})
    await send({"type": "http.response.body", "body": answer.body, "more_body": body.unread})
    if body.unread:
        # To close on what was not read would take the answer back.
        await body.discard(_LINGER_SECONDS)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _listen(address: tuple[str, int]) -> socket.socket:
    six = ":" in address[0]
    family = socket.AF_INET6 if six else socket.AF_INET
    bound = socket.create_server(address, family=family, backlog=128, dualstack_ipv6=six)
    # Of sockets whose protocol is not said asyncio does not send small packets at once, and every
    # answer behind a connection's first would wait 40 ms for the client's system.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, bound.detach())


def _context_of(tls: TlsSettings) -> ssl.SSLContext:
    """What Python's own TLS needs for the settings that gRPC has; TLS 1.2 at least."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Python reads a key from a file alone; this one is its owner's alone, and gone at once.
    with tempfile.TemporaryDirectory(prefix="pairloom-") as folder:
        file = Path(folder) / "pem"
        file.touch(mode=0o600)
        file.write_bytes(tls.key + b"\n" + tls.certificate)
        context.load_cert_chain(file)
    if tls.authority:
        context.load_verify_locations(cadata=tls.authority.decode())
    if tls.client_verify:
        context.verify_mode = ssl.CERT_REQUIRED
    return context
