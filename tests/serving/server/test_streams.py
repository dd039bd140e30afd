"""The threads that models compute in."""

import threading
import time

import pytest

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.streams import Streams


def test_as_many_at_once_as_there_are_streams_each_with_its_own():
    streams = Streams(count=2)
    with streams.take() as one, streams.take() as other:
        assert {one, other} == {0, 1}
        started = time.monotonic()
        with pytest.raises(RequestError) as caught, streams.take(0.1):
            pass
        assert caught.value.code == Code.DEADLINE_EXCEEDED
        assert time.monotonic() - started < 2
    with streams.take(0):
        pass


def test_who_waits_gets_the_stream_that_is_given_back():
    streams = Streams(count=1)
    taken = []

    def wait():
        with streams.take(10) as number:
            taken.append(number)

    waiting = threading.Thread(target=wait)
    with streams.take():
        waiting.start()
        time.sleep(0.05)
        assert taken == []
    waiting.join(10)
    assert taken == [0]


def test_a_computation_that_fails_gives_its_stream_back():
    streams = Streams(count=1)
    with pytest.raises(ZeroDivisionError), streams.take():
        raise ZeroDivisionError
    with streams.take(0) as number:
        assert number == 0
