"""The HTTP server itself: connections, bodies, limits, draining."""

import asyncio
import gzip
import http.client
import inspect
import json
import os
import socket
import struct
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import uvicorn

from pairloom.serving.server import ServerOptions
from pairloom.serving.server.errors import PortInUse, RequestError
from pairloom.serving.server.event_loop import server_loop
from pairloom.serving.server.rest_api import Answer, error_answer
from pairloom.serving.server.rest_front import Connections, RestFront

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class Echo:
    """Stands where the REST API stands: answers with what came, and fails on request."""

    def __init__(self):
        self.entered = threading.Event()
        self.go_on = threading.Event()

    async def handle(self, request):
        path = request.path
        if path == "/fail":
            raise KeyError("a bug")
        if path == "/refuse":
            return Answer(401, b"{}")
        try:
            body = await request.read()
        except RequestError as error:
            return error_answer(error)
        if path == "/wait":
            self.entered.set()
            await self.until_told()
        return Answer(200, json.dumps([request.method, path, body.decode()]).encode())

    async def until_told(self):
        await asyncio.get_running_loop().run_in_executor(None, self.go_on.wait, 10)


def started(**settings):
    usual = {"rest_api_port": 0, "rest_api_max_body_bytes": 100}
    front = RestFront(Echo(), ServerOptions(**(usual | settings)))
    front.start()
    return front


def drain(front, seconds):
    return server_loop().run(front.drain(seconds))


@pytest.fixture
def front():
    front = started()
    yield front
    front._api.go_on.set()
    drain(front, 5)


@pytest.fixture
def connection(front):
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=10)
    yield connection
    connection.close()


def raw(front, data, leave=False):
    """What comes back until the server closes; whoever leaves has sent all and may miss it."""
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(data)
        if leave:
            connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def read_answer(connection):
    """One answer, whose body says `]` or `}` at its end."""
    answer = b""
    while not answer.endswith((b"]", b"}")):
        part = connection.recv(4096)
        assert part
        answer += part
    return answer


def test_one_connection_carries_many_requests(connection):
    for number in range(3):
        connection.request("POST", f"/{number}?query", b"body")
        response = connection.getresponse()
        assert json.loads(response.read()) == ["POST", f"/{number}", "body"]
        assert response.headers["Content-Type"] == "application/json"


def test_an_answer_does_not_wait_for_the_clients_system(connection):
    started = time.monotonic()
    for _ in range(100):
        connection.request("GET", "/")
        connection.getresponse().read()
    # Of packets that are held back each answer takes 40 ms.
    assert time.monotonic() - started < 2


def test_a_chunked_body_is_put_together(connection):
    connection.request("POST", "/", iter([b"ab", b"c"]), encode_chunked=True)
    assert json.loads(connection.getresponse().read())[2] == "abc"


def test_curls_expect_header_gets_its_go_ahead_at_once(front):
    head = (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"hi")
        assert b"200" in connection.recv(4096)


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"])
@pytest.mark.parametrize("kind", [b"Content-Length: 50\r\n\r\n", CHUNKED])
def test_a_body_that_is_not_wanted_is_not_waited_for(front, expect, kind):
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(b"POST /refuse HTTP/1.1\r\nHost: localhost\r\n" + expect + kind)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 401") and b"Connection: close" in answer


def test_who_sends_a_body_that_is_not_wanted_still_reads_why(front):
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(
            b"POST /refuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n"
        )
        assert read_answer(connection).startswith(b"HTTP/1.1 401")
        # Closed at once, the connection would break under these.
        for _ in range(20):
            connection.sendall(b"x" * 10_000)
            time.sleep(0.01)
        assert connection.recv(1) == b""


def test_a_refusal_without_a_body_leaves_the_connection(connection):
    for _ in range(2):
        connection.request("GET", "/refuse")
        response = connection.getresponse()
        assert response.status == 401 and response.read() and not response.will_close


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n"
        + b"x" * 101,
    ],
)
def test_a_body_over_the_limit_is_refused_unread(front, head):
    answer = raw(front, head)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"over 100 bytes" in answer


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_malformed_http_is_refused_and_the_server_lives(front, connection, head):
    # What is not HTTP at all gets no status line, only the page that tells of it.
    assert b"400" in raw(front, head)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200


@pytest.mark.parametrize("body", [b"Content-Length: 50\r\n\r\nonly", CHUNKED + b"5\r\nonly"])
def test_a_client_that_leaves_in_mid_body_harms_nobody(front, connection, body):
    raw(front, HEAD + body, leave=True)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200


def test_a_bug_in_the_api_is_a_500_without_its_details(connection, caplog):
    connection.request("GET", "/fail")
    response = connection.getresponse()
    body = response.read()
    assert response.status == 500
    assert b"a bug" not in body and "a bug" in caplog.text


def test_draining_finishes_what_is_under_way_and_takes_nothing_new(front, connection):
    drained = []
    connection.request("GET", "/wait")
    front._api.entered.wait(10)
    drainer = threading.Thread(target=lambda: drained.append(drain(front, 10)))
    drainer.start()
    time.sleep(0.2)
    assert not drained
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", front.port), timeout=1)
    front._api.go_on.set()
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["Connection"] == "close"
    drainer.join(10)
    assert drained == [True]


def test_draining_gives_up_in_time(front, connection):
    connection.request("GET", "/wait")
    front._api.entered.wait(10)
    assert drain(front, 0.1) is False
    front._api.go_on.set()


def test_a_client_that_sends_a_byte_now_and_then_is_let_go(front):
    front.connections.seconds = 0.5
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        started = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - started < 5:
                connection.sendall(b"G")
                time.sleep(0.1)
        assert time.monotonic() - started < 3


def test_idle_time_is_not_taken_from_the_next_request(front):
    front.connections.seconds = front._room.seconds = 1.0
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in read_answer(connection)
        time.sleep(0.7)
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        time.sleep(0.6)
        connection.sendall(b"hi")
        assert b" 200 " in read_answer(connection)


@pytest.mark.parametrize(
    "headers",
    [
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 0\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Encoding: br\r\n",
    ],
)
def test_unclear_bodies_are_refused_and_nothing_behind_them_is_read(front, headers):
    hidden = b"5\r\nhello\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = raw(front, HEAD + headers + b"\r\n" + hidden)
    assert answer.count(b"HTTP/1.1 ") == 1 and b" 400 " in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("size", [b"0x5", b"+5", b"5_", b"", b"-1"])
def test_a_chunks_size_is_hexadecimal_digits(front, size):
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 400 " in raw(front, head + size + b"\r\nhello\r\n0\r\n\r\n").split(b"\r\n")[0]


def test_a_packed_body_is_unpacked_up_to_the_limit(connection):
    headers = {"Content-Encoding": "gzip"}
    connection.request("POST", "/", gzip.compress(b"hello"), headers)
    assert json.loads(connection.getresponse().read())[2] == "hello"
    connection.request("POST", "/", gzip.compress(b"x" * 1000), headers)
    assert connection.getresponse().status == 413
    connection.close()
    whole = gzip.compress(b"hello")
    for broken in (b"no gzip", whole[:-9], whole + b"x", whole + whole):
        connection.request("POST", "/", broken, headers)
        assert connection.getresponse().status == 400
        connection.close()


def test_a_kept_connection_is_closed_by_the_drain(front, connection):
    connection.request("GET", "/")
    connection.getresponse().read()
    drain(front, 1)
    with pytest.raises(OSError):
        connection.request("GET", "/")
        connection.getresponse()


def stay(connection):
    pass


def half_close(connection):
    connection.shutdown(socket.SHUT_WR)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("descriptors", [0, 1100])
@pytest.mark.parametrize(
    ("then", "there"),
    [(stay, True), (socket.socket.close, False), (half_close, False), (reset, False)],
    ids=["stay", "close", "half-close", "reset"],
)
def test_a_client_that_has_gone_is_noticed(front, descriptors, then, there):
    seen = []

    async def handle(request):
        await request.read()
        await front._api.until_told()
        until = time.monotonic() + (0.2 if there else 5)
        while request.active() and time.monotonic() < until:
            await asyncio.sleep(0.01)
        seen.append(request.active())
        front._api.entered.set()
        return Answer(200, b"{}")

    front._api.handle = handle
    with ExitStack() as files:
        for _ in range(descriptors):
            files.enter_context(open(os.devnull))
        connection = socket.create_connection(("127.0.0.1", front.port), timeout=10)
        with connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            then(connection)
            front._api.go_on.set()
            assert front._api.entered.wait(10)
    assert seen == [there]


@pytest.fixture
def small():
    """A server of at most four connections."""
    front = started(rest_api_max_connections=4)
    yield front
    front._api.go_on.set()
    drain(front, 5)


def ask(front, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=10)
    connection.request("POST", path, b"a")
    return connection, connection.getresponse


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTT", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]
)
def test_connections_that_bring_no_request_keep_nobody_out(small, begun):
    with ExitStack() as stack:
        idle = []
        for _ in range(50):
            one = socket.create_connection(("127.0.0.1", small.port), timeout=10)
            idle.append(stack.enter_context(one))
            one.sendall(begun)
        connection, response = ask(small)
        assert response().status == 200
        connection.close()
        # The first that came were the first to go.
        with suppress(ConnectionResetError):
            assert idle[0].recv(1) == b""


def test_a_kept_connection_goes_on_while_there_is_room(small):
    kept, response = ask(small)
    assert response().read()
    for _ in range(10):
        other, answered = ask(small)
        assert answered().read()
        other.close()
        kept.request("GET", "/")
        assert kept.getresponse().read()
    kept.close()


def test_when_all_connections_work_another_is_turned_away_at_once(small):
    working = [ask(small, "/wait") for _ in range(4)]
    until = time.monotonic() + 10
    while len(small.connections.working) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    connection, response = ask(small)
    answer = response()
    assert answer.status == 503 and "too many connections" in json.loads(answer.read())["error"]
    small._api.go_on.set()
    for one, answered in working:
        assert answered().status == 200
        one.close()
    while len(small.connections.working) == 4 and time.monotonic() < until:
        time.sleep(0.01)
    connection, response = ask(small)
    assert response().status == 200
    connection.close()


def test_who_is_turned_away_before_asking_still_reads_why(small):
    working = [ask(small, "/wait") for _ in range(4)]
    until = time.monotonic() + 10
    while len(small.connections.working) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    with socket.create_connection(("127.0.0.1", small.port), timeout=10) as slow:
        for part in (b"GET / HTTP/1.1\r\n", b"Host: [::1]\r\n", b"\r\n"):
            time.sleep(0.1)
            slow.sendall(part)
        assert slow.recv(65536).startswith(b"HTTP/1.1 503 ")
    small._api.go_on.set()
    for one, answered in working:
        assert answered().status == 200
        one.close()


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
@pytest.mark.parametrize(("bound", "asked"), [("::1", "::1"), ("::", "127.0.0.1")])
def test_an_address_of_ipv6_is_listened_on_and_the_one_of_all_takes_ipv4_too(bound, asked):
    front = started(bind_address=bound)
    connection = http.client.HTTPConnection(asked, front.port, timeout=10)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()
    drain(front, 5)


def test_a_port_that_is_taken_is_told_with_its_flag(front):
    with pytest.raises(PortInUse, match=rf":{front.port} \(--rest_api_port\): another program"):
        RestFront(Echo(), ServerOptions(rest_api_port=front.port))


def test_the_first_of_two_headers_of_one_name_holds(front):
    seen = []

    async def handle(request):
        seen.append(request.headers["x-twice"])
        return Answer(200, b"{}")

    front._api.handle = handle
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Twice: one\r\nX-Twice: two\r\n"
    assert b" 200 " in raw(front, head + b"Connection: close\r\n\r\n")
    assert seen == ["one"]


def test_uvicorn_takes_a_protocol_and_a_tls_context_of_ours():
    # The oldest release that has both, and none whose classes may be others.
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    assert '"uvicorn>=0.47,<1"' in project
    taken = inspect.signature(uvicorn.Config).parameters
    assert {"http", "ssl_context_factory"} <= set(taken)
    watched = vars(Connections(1, 1.0).protocol())
    assert {name for name in watched if name[0] != "_"} <= set(dir(asyncio.Protocol))
