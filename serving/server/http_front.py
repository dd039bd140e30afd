"""A plain HTTP/1.1 server in front of the REST API: reads bodies, writes answers, drains."""

import io
import logging
import select
import socket
import socketserver
import threading
import time
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from pairloom.serving.server.connections import Connections
from pairloom.serving.server.errors import Code, PortInUse, RequestError
from pairloom.serving.server.http_body import has_body, read_body
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.rest_api import Answer, RestApi, error_answer

logger = logging.getLogger("pairloom.serving")

# Linux alone has it; elsewhere POLLHUP says as much.
_POLLRDHUP = getattr(select, "POLLRDHUP", 0)
# How long a client may go on sending a body that is not wanted.
_LINGER_SECONDS = 1.0
# Each is an open socket, and no thread.
_MOST_LEAVING = 64


class HttpFront(ThreadingHTTPServer):
    """Serves a `RestApi`, a thread a connection.

    Args:
        api: What answers.
        address: Where to listen; port 0 takes a free one.
        max_body: Largest body in bytes.
        max_connections: Most connections at once.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self, api: RestApi, address: tuple[str, int], max_body: int, max_connections: int = 512
    ):
        self.api = api
        self.connections = Connections(max_connections)
        self.max_body = max_body
        self.draining = False
        self._leaving: deque[tuple[float, socket.socket]] = deque()
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

    def process_request(self, request, client_address) -> None:
        if self.connections.admit(request):
            super().process_request(request, client_address)
        else:
            self._turn_away(request)

    def shutdown_request(self, request) -> None:
        self.connections.leave(request)
        super().shutdown_request(request)

    def _turn_away(self, request: socket.socket) -> None:
        answer = self.api.turn_away("The server has too many connections, all of them at work.")
        head = (
            f"HTTP/1.1 {answer.status} Service Unavailable\r\n"
            f"Content-Type: {answer.content_type}\r\nContent-Length: {len(answer.body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        # By the thread that accepts connections: it must not wait.
        request.setblocking(False)
        with suppress(OSError):
            request.sendall(head.encode() + answer.body)
            request.shutdown(socket.SHUT_WR)
        # To close before the client's request is here would take the answer back.
        self._leaving.append((time.monotonic() + _LINGER_SECONDS, request))

    def service_actions(self) -> None:
        """Closes the connections that were turned away, once their clients had time to read."""
        while self._leaving and (
            len(self._leaving) > _MOST_LEAVING or self._leaving[0][0] < time.monotonic()
        ):
            self.shutdown_request(self._leaving.popleft()[1])

    def handle_error(self, request, client_address) -> None:
        # A client that went away is no news.
        logger.debug("Connection from %s failed.", client_address, exc_info=True)


class _Patience(io.RawIOBase):
    """Reads from a socket for so long and no longer, however many bytes trickle in.

    Args:
        connection: The socket.
        seconds: Time to wait for a request, and again from its first line to its last byte.
    """

    def __init__(self, connection: socket.socket, seconds: float):
        self._connection = connection
        self._seconds = seconds
        self._until = 0.0

    def renew(self) -> None:
        """The time begins again."""
        self._until = time.monotonic() + self._seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("The client sends too slowly.")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(self._seconds)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HttpFront
    # Head and body leave in one packet; a client that stops talking is let go.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 60

    def setup(self) -> None:
        super().setup()
        self._patience = _Patience(self.connection, self.timeout)
        self.rfile = io.BufferedReader(self._patience)

    def handle_one_request(self) -> None:
        self._patience.renew()
        self._must_go_ahead = False
        super().handle_one_request()

    def parse_request(self) -> bool:
        # How long a kept connection was idle is not the request's fault.
        self._patience.renew()
        return super().parse_request()

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
        # The body may not be wanted: `_read` asks for it.
        self._must_go_ahead = True
        return True

    def _answer(self, method: str) -> None:
        self._unread = has_body(self.headers)
        self.server.count(1)
        try:
            try:
                answer = self.server.api.handle(
                    method, self._path(), self._read, self.headers, self._active
                )
            except Exception:
                logger.exception("A REST request failed in the server.")
                failure = RequestError(Code.INTERNAL, "The server failed; its log says why.")
                answer = error_answer(failure)
            self.close_connection = self.close_connection or self._unread
            self._send(answer)
        finally:
            self.server.connections.end(self.connection)
            self.server.count(-1)
        if self._unread:
            self._leave()

    def _path(self) -> str:
        try:
            return urlsplit(self.path).path
        except ValueError:
            return self.path

    def _read(self) -> bytes:
        """Reads the body, for which the API asks when it has looked at the head."""
        try:
            if self._must_go_ahead:
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            body = read_body(self.headers, self.rfile, self.server.max_body)
        except TimeoutError:
            raise RequestError(Code.DEADLINE_EXCEEDED, "The client sends too slowly.") from None
        except ConnectionError:
            raise RequestError(Code.CANCELLED, "The client left in mid-body.") from None
        self._unread = False
        if not self.server.connections.begin(self.connection):
            raise RequestError(Code.UNAVAILABLE, "Closed for another connection.")
        if self.server.draining:
            raise RequestError(Code.UNAVAILABLE, "The server is stopping.")
        return body

    def _leave(self) -> None:
        """Ends the connection; to close on what was not read would take the answer back."""
        until = time.monotonic() + _LINGER_SECONDS
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while (left := until - time.monotonic()) > 0:
                self.connection.settimeout(left)
                if not self.connection.recv(65536):
                    break

    def _active(self) -> bool:
        """Whether the client is still there.

        One that has closed looks like one that only sends no more and still reads; there are many
        of the former, and hardly any of the latter.
        """
        poll = select.poll()
        poll.register(self.connection, select.POLLERR | select.POLLHUP | _POLLRDHUP)
        return not poll.poll(0)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.server.draining or self.close_connection:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()


def start_rest(api: RestApi, options: ServerOptions) -> HttpFront:
    """Starts the REST server."""
    address = (options.bind_address, options.rest_api_port)
    try:
        front = HttpFront(api, address, options.max_message_bytes, options.rest_api_max_connections)
    except OSError as error:
        problem = port_problem(*address) or str(error)
        raise PortInUse(
            f"Cannot listen on {host_port(*address)} (--rest_api_port): {problem}."
        ) from None
    front.start()
    return front
