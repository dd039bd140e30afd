"""REST and the page over HTTP/1.1, by uvicorn and h11: reads bodies, writes answers, drains."""

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

from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.connections import Connections
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.event_loop import server_loop
from pairloom.serving.server.listening import host_port, port_in_use
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.rest_api import Answer, HttpRequest, RestApi, error_answer
from pairloom.serving.server.rest_body import Body, Receive, Room

logger = logging.getLogger("pairloom.serving")

Send = Callable[[dict[str, Any]], Awaitable[None]]

# How long a client may go on sending a body that is not wanted.
_LINGER_SECONDS = 1.0
# How long a connection may bring no whole head, or stay open for a next request.
_PATIENCE_SECONDS = 60


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
            raise port_in_use("rest_api_port", *address, otherwise=str(error)) from None
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
