"""The open HTTP connections: at most so many, and none that only waits may keep another out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]


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
