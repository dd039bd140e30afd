"""Calls over loopback to a server of handlers: answered once, ended always, counted off."""

import gc
import threading
import time
import weakref
from contextlib import suppress

import grpc
import pytest

from pairloom.serving.server.grpc_core import CoreServer, refuse


class Handlers:
    """What the tests' server answers, and what it saw."""

    def __init__(self):
        self.held = []
        self.gone = threading.Event()

    def echo(self, rpc, message):
        if rpc.claim():
            rpc.finish(message)

    def hold(self, rpc, message):
        self.held.append(rpc)
        rpc.when_gone(self.gone.set)

    def count(self, rpc, message):
        for number in range(int(message)):
            rpc.send(str(number).encode())
        if rpc.claim():
            rpc.finish()

    def shout(self, rpc, message):
        if message is None:
            if rpc.claim():
                rpc.finish()
        else:
            rpc.send(message.upper())
            rpc.read(self.shout)

    def break_down(self, rpc, message):
        raise RuntimeError("broken")

    def by_name(self):
        names = ("echo", "hold", "count", "shout", "break_down")
        return {f"/t.T/{name}": getattr(self, name) for name in names}


@pytest.fixture
def handlers():
    return Handlers()


@pytest.fixture
def serve(handlers):
    servers, channels = [], []

    def start(most_calls=100, **settings):
        options = [("grpc.so_reuseport", 0)]
        server = CoreServer(handlers.by_name(), options, most_calls, **settings)
        port = server.listen("127.0.0.1:0")
        server.start()
        servers.append(server)
        channels.append(grpc.insecure_channel(f"127.0.0.1:{port}"))
        return server, channels[-1]

    yield start
    for channel in channels:
        channel.close()
    for server in servers:
        assert server.stop(1).wait(10)


def code_of(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code()


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_many_calls_at_once_each_get_their_own_answer(serve):
    _, channel = serve(most_calls=1000)
    echo = channel.unary_unary("/t.T/echo")
    futures = [echo.future(b"%d" % number, timeout=20) for number in range(500)]
    assert [future.result() for future in futures] == [b"%d" % number for number in range(500)]


def test_messages_of_a_stream_come_whole_and_in_order(serve):
    _, channel = serve()
    answers = channel.unary_stream("/t.T/count")(b"300", timeout=20)
    assert [int(answer) for answer in answers] == list(range(300))


def test_a_stream_both_ways_ends_when_the_client_has_no_more(serve):
    _, channel = serve()
    answers = channel.stream_stream("/t.T/shout")(iter([b"a", b"b"]), timeout=20)
    assert list(answers) == [b"A", b"B"]


def test_an_unknown_method_and_a_broken_one_have_their_statuses(serve, caplog):
    _, channel = serve()
    unknown = channel.unary_unary("/t.T/nothing")
    broken = channel.unary_unary("/t.T/break_down")
    assert code_of(lambda: unknown(b"", timeout=20)) is grpc.StatusCode.UNIMPLEMENTED
    assert code_of(lambda: broken(b"", timeout=20)) is grpc.StatusCode.INTERNAL
    assert "broken" in caplog.text


def test_a_call_too_many_is_refused_and_room_comes_back(serve, handlers):
    server, channel = serve(most_calls=2)
    echo, hold = channel.unary_unary("/t.T/echo"), channel.unary_unary("/t.T/hold")
    held = [hold.future(b"", timeout=30) for _ in range(2)]
    assert until(lambda: len(handlers.held) == 2)
    assert code_of(lambda: echo(b"", timeout=20)) is grpc.StatusCode.RESOURCE_EXHAUSTED
    for rpc in handlers.held:
        assert rpc.claim()
        rpc.finish(b"at last")
    assert [future.result() for future in held] == [b"at last"] * 2
    assert until(lambda: server._calls == 0)
    assert echo(b"again", timeout=20) == b"again"


def test_methods_beside_the_others_have_calls_of_their_own(serve, handlers):
    refused = []

    def note(rpc, status, details):
        refused.append((rpc.method, status))
        refuse(rpc, status, details)

    beside = {"/t.T/beside": handlers.hold}
    _, channel = serve(most_calls=1, beside=beside, refused=note)
    echo, hold = channel.unary_unary("/t.T/echo"), channel.unary_unary("/t.T/beside")
    held = hold.future(b"", timeout=30)
    assert until(lambda: handlers.held)
    assert echo(b"still", timeout=20) == b"still"
    assert code_of(lambda: hold(b"", timeout=20)) is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused == [("/t.T/beside", grpc.StatusCode.RESOURCE_EXHAUSTED)]
    held.cancel()


@pytest.mark.parametrize("way", ["cancel", "deadline"])
def test_whoever_leaves_is_noticed_and_needs_no_answer(serve, handlers, way):
    server, channel = serve()
    call = channel.unary_unary("/t.T/hold").future(b"", timeout=0.3 if way == "deadline" else 30)
    assert until(lambda: handlers.held)
    if way == "cancel":
        call.cancel()
    assert handlers.gone.wait(10)
    assert not handlers.held[0].claim()
    assert until(lambda: server._calls == 0)
    # Who asks after the fact is told at once.
    told = threading.Event()
    handlers.held[0].when_gone(told.set)
    assert told.is_set()


def test_a_call_is_claimed_once(serve, handlers):
    _, channel = serve()
    call = channel.unary_unary("/t.T/hold").future(b"", timeout=30)
    assert until(lambda: handlers.held)
    assert [handlers.held[0].claim() for _ in range(3)] == [True, False, False]
    handlers.held[0].finish(b"once")
    assert call.result() == b"once"
    assert not handlers.gone.is_set()


def test_who_is_not_admitted_never_reaches_the_handler(serve, handlers):
    def admit(rpc):
        if rpc.header("word") != "sesame":
            refuse(rpc, grpc.StatusCode.UNAUTHENTICATED, "Say the word.")

    _, channel = serve(admit=admit)
    hold, echo = channel.unary_unary("/t.T/hold"), channel.unary_unary("/t.T/echo")
    assert code_of(lambda: hold(b"", timeout=20)) is grpc.StatusCode.UNAUTHENTICATED
    assert not handlers.held
    assert echo(b"hi", timeout=20, metadata=(("word", "sesame"),)) == b"hi"


def test_a_stop_waits_for_calls_under_way_and_takes_no_new_one(serve, handlers):
    server, channel = serve()
    call = channel.unary_unary("/t.T/hold").future(b"", timeout=30)
    assert until(lambda: handlers.held)
    stopped = server.stop(20)
    assert not stopped.wait(0.3)
    with pytest.raises(grpc.RpcError):
        channel.unary_unary("/t.T/echo")(b"", timeout=1)
    assert handlers.held[0].claim()
    handlers.held[0].finish(b"bye")
    assert call.result() == b"bye"
    assert stopped.wait(10) and server.stop(0).is_set()


def test_a_stop_ends_what_takes_too_long(serve, handlers):
    server, channel = serve()
    call = channel.unary_unary("/t.T/hold").future(b"", timeout=30)
    assert until(lambda: handlers.held)
    # Claimed before and finished after the end: nobody hears it, and nothing breaks.
    assert handlers.held[0].claim()
    stopped = server.stop(0.2)
    assert code_of(call.result) in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)
    assert not stopped.wait(0.3)
    handlers.held[0].finish(b"too late")
    assert stopped.wait(10)


def test_a_server_that_never_started_gives_its_port_back(handlers):
    server = CoreServer(handlers.by_name(), [("grpc.so_reuseport", 0)], 10)
    port = server.listen("127.0.0.1:0")
    assert CoreServer({}, [("grpc.so_reuseport", 0)], 1).listen(f"127.0.0.1:{port}") == 0
    assert server.stop(0).wait(10)
    again = CoreServer({}, [("grpc.so_reuseport", 0)], 1)
    assert again.listen(f"127.0.0.1:{port}") == port
    again.stop(0)


def test_servers_come_and_go_under_load(handlers):
    """Stops while calls come, are cancelled and run out of time; a mistake ends the process."""
    for seconds in (0, 0.001, 0.05, 1) * 3:
        server = CoreServer(handlers.by_name(), [("grpc.so_reuseport", 0)], 20)
        port = server.listen("127.0.0.1:0")
        server.start()
        ended = threading.Event()

        def ask(port=port, ended=ended):
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                echo, hold = channel.unary_unary("/t.T/echo"), channel.unary_unary("/t.T/hold")
                while not ended.is_set():
                    hold.future(b"").cancel()
                    for call, left in ((echo, 5), (hold, 0.002)):
                        with suppress(grpc.RpcError):
                            call(b"text", timeout=left)

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        time.sleep(0.1)
        stopped = server.stop(seconds)
        assert stopped.wait(10)
        ended.set()
        for client in clients:
            client.join()


def test_a_call_that_is_over_is_forgotten_at_once(serve, handlers):
    class Waiting:
        def __init__(self, rpc):
            self.rpc = rpc
            rpc.when_gone(self.leave)

        def leave(self):
            pass

    kept = []

    def hold(rpc, message):
        kept.append(weakref.ref(rpc))
        Waiting(rpc)
        handlers.echo(rpc, message)

    handlers.hold = hold
    server, channel = serve()
    gc.disable()
    try:
        assert channel.unary_unary("/t.T/hold")(b"a", timeout=20) == b"a"
        # The reader's side of the test is quick; the server's last event may be to come.
        assert until(lambda: server._calls == 0 and kept[0]() is None)
    finally:
        gc.enable()
