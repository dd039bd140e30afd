"""A plain HTTP/1.1 server in front of the REST API: reads a body, writes an answer, drains."""

import logging
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from pairloom.serving.server.errors import Code, PortInUse, RequestError, invalid
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.rest_api import Answer, RestApi, error_answer

logger = logging.getLogger("pairloom.serving")


class TooLarge(RequestError):
    """A body over the limit."""

    def __init__(self, limit: int):
        super().__init__(Code.INVALID_ARGUMENT, f"The request body is over {limit} bytes.")


class HttpFront(ThreadingHTTPServer):
    """Serves a `RestApi`, a thread a connection.

    Args:
        api: What answers.
        address: Where to listen; port 0 takes a free one.
        max_body: Largest body in bytes.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, api: RestApi, address: tuple[str, int], max_body: int):
        self.api = api
        self.max_body = max_body
        self.draining = False
        self._busy = 0
        self._idle = threading.Condition()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)
        # The interval is how long `shutdown` may take.
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.05,), name="rest", daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def server_bind(self) -> None:
        # HTTPServer looks up its own host name here, which can take seconds; nothing needs it.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.port

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._thread.start()

    def drain(self, seconds: float) -> bool:
        """Takes no new connection, and waits for the requests under way.

        Returns:
            Whether all of them were answered in time.
        """
        self.draining = True
        self.shutdown()
        self.server_close()
        with self._idle:
            return self._idle.wait_for(lambda: self._busy == 0, seconds)

    def count(self, change: int) -> None:
        """Counts requests under way."""
        with self._idle:
            self._busy += change
            self._idle.notify_all()

    def handle_error(self, request, client_address) -> None:
        # A client that went away is no news.
        logger.debug("Connection from %s failed.", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HttpFront
    # Head and body leave in one packet; a client that stops talking is let go.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 60

    def version_string(self) -> str:
        return "pairloom"

    def log_message(self, format, *arguments) -> None:
        logger.debug(format, *arguments)

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = lambda self: self._answer(self.command)

    def handle_expect_100(self) -> bool:
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def _answer(self, method: str) -> None:
        self.server.count(1)
        try:
            try:
                body = self._body()
                answer = self.server.api.handle(method, urlsplit(self.path).path, body)
            except TooLarge as error:
                answer = Answer(413, error_answer(error).body)
                self.close_connection = True
            except RequestError as error:
                answer = error_answer(error)
                self.close_connection = True
            except (TimeoutError, ConnectionError):
                raise
            except Exception:
                logger.exception("A REST request failed in the server.")
                failure = RequestError(Code.INTERNAL, "The server failed; its log says why.")
                answer = error_answer(failure)
            self._send(answer)
        finally:
            self.server.count(-1)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.body)))
        if self.server.draining or self.close_connection:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._chunks()
        text = self.headers.get("Content-Length") or "0"
        if not (text.isascii() and text.isdigit()):
            raise invalid(f"Malformed Content-Length: {text}")
        length = int(text)
        if length > self.server.max_body:
            raise TooLarge(self.server.max_body)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("The client left in mid-body.")
        return body

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        total = 0
        while True:
            line = self.rfile.readline(1000)
            size_text = line.split(b";", 1)[0].strip()
            try:
                size = int(size_text, 16)
            except ValueError:
                raise invalid("Malformed chunked body.") from None
            if size < 0:
                raise invalid("Malformed chunked body.")
            total += size
            if total > self.server.max_body:
                raise TooLarge(self.server.max_body)
            if size == 0:
                while self.rfile.readline(1000).strip():
                    pass
                return b"".join(parts)
            parts.append(self.rfile.read(size))
            self.rfile.readline(1000)


def start_rest(registry: Registry, options: ServerOptions) -> HttpFront:
    """Starts the REST server."""
    seconds = options.rest_api_timeout_in_ms / 1000
    api = RestApi(registry, seconds if seconds > 0 else None)
    address = (options.bind_address, options.rest_api_port)
    try:
        front = HttpFront(api, address, options.max_message_bytes)
    except OSError as error:
        problem = port_problem(*address) or str(error)
        raise PortInUse(
            f"Cannot listen on {host_port(*address)} (--rest_api_port): {problem}."
        ) from None
    front.start()
    return front
