"""The HTTP server itself: connections, bodies, limits, draining."""

import http.client
import json
import socket
import threading
import time

import pytest

from pairloom.serving.server.http_front import HttpFront
from pairloom.serving.server.rest_api import Answer


class Echo:
    """Stands where the REST API stands: answers with what came, and fails on request."""

    def __init__(self):
        self.entered = threading.Event()
        self.go_on = threading.Event()

    def handle(self, method, path, body):
        if path == "/fail":
            raise KeyError("a bug")
        if path == "/wait":
            self.entered.set()
            self.go_on.wait(10)
        return Answer(200, json.dumps([method, path, body.decode()]).encode())


@pytest.fixture
def front():
    front = HttpFront(Echo(), ("127.0.0.1", 0), max_body=100)
    front.start()
    yield front
    if not front.draining:
        front.drain(0)


@pytest.fixture
def connection(front):
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=10)
    yield connection
    connection.close()


def raw(front, data, pause=0.0, rest=b""):
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(data)
        time.sleep(pause)
        connection.sendall(rest)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_one_connection_carries_many_requests(connection):
    for number in range(3):
        connection.request("POST", f"/{number}?query", b"body")
        response = connection.getresponse()
        assert json.loads(response.read()) == ["POST", f"/{number}", "body"]
        assert response.headers["Content-Type"] == "application/json"


def test_a_chunked_body_is_put_together(connection):
    connection.request("POST", "/", iter([b"ab", b"c"]), encode_chunked=True)
    assert json.loads(connection.getresponse().read())[2] == "abc"


def test_curls_expect_header_gets_its_go_ahead_at_once(front):
    head = b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(("127.0.0.1", front.port), timeout=10) as connection:
        connection.sendall(head)
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.sendall(b"hi")
        assert b"200" in connection.recv(4096)


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n",
    ],
)
def test_a_body_over_the_limit_is_refused_unread(front, head):
    answer = raw(front, head)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"over 100 bytes" in answer


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_malformed_http_is_refused_and_the_server_lives(front, connection, head):
    assert b" 400 " in raw(front, head).split(b"\r\n")[0] or b"400" in raw(front, head)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200


def test_a_client_that_leaves_in_mid_body_harms_nobody(front, connection):
    assert raw(front, b"POST / HTTP/1.1\r\nContent-Length: 50\r\n\r\nonly this") == b""
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
    front.api.entered.wait(10)
    drainer = threading.Thread(target=lambda: drained.append(front.drain(10)))
    drainer.start()
    time.sleep(0.2)
    assert not drained
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", front.port), timeout=1)
    front.api.go_on.set()
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["Connection"] == "close"
    drainer.join(10)
    assert drained == [True]


def test_draining_gives_up_in_time(front, connection):
    connection.request("GET", "/wait")
    front.api.entered.wait(10)
    assert front.drain(0.1) is False
    front.api.go_on.set()
