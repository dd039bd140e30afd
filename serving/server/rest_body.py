"""A request's body: plain, or packed with gzip. What is not clear is refused."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from pairloom.serving.server.errors import Code, RequestError, invalid

Receive = Callable[[], Awaitable[Any]]

# Text packs to a tenth; what packs to far less is made to fill the memory, unless it is small.
_MOST_EXPANSION = 50
_SMALL = 1024 * 1024


class TooLarge(RequestError):
    """A body over the limit."""

    def __init__(self, limit: int, why: str = ""):
        super().__init__(Code.INVALID_ARGUMENT, f"The request body is over {limit} bytes{why}.")


class Room:
    """What bodies may take.

    Args:
        each: Bytes of one body, also when unpacked.
    """

    def __init__(self, each: int):
        self.each = each
        self.together = max(256 * 1024 * 1024, 2 * each)
        """Bytes that are left for all that are being read or answered."""
        self.seconds = 60.0
        """How long one may take to come."""


class Body:
    """One request's body; it keeps its room until it is released.

    Args:
        headers: The request's, by lower-case name.
        receive: ASGI's.
        room: Shared with all other bodies.
    """

    def __init__(self, headers: Mapping[str, str], receive: Receive, room: Room):
        self._headers = headers
        self._receive = receive
        self._room = room
        self._held = 0
        self._leaving: asyncio.Task[None] | None = None
        self.unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        """Whether something of it may be on the way still."""

    def awaited(self) -> bool:
        """Whether the client is still there; known once the body is read."""
        return self._leaving is None or not self._leaving.done()

    async def read(self) -> bytes:
        """Reads all of it.

        Raises:
            RequestError: The headers contradict themselves, the body is not what they say or too
                large, or the client left.
        """
        headers, most = self._headers, self._room.each
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy may go by the other one, and take the rest of one request for the next.
            raise invalid("Expected Transfer-Encoding or Content-Length. Received: both.")
        packing = headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip"):
            # Nothing behind such a request is to be trusted.
            self.unread = True
            raise invalid(f"Expected Content-Encoding gzip or none. Received: {packing}.")
        body = await self._plain(most, packing) if self.unread else b""
        self._leaving = asyncio.create_task(self._until_left())
        return body

    async def _plain(self, most: int, packing: str) -> bytes:
        if int(self._headers.get("content-length", "0")) > most:
            raise TooLarge(most)
        try:
            body = await asyncio.wait_for(self._whole(most), self._room.seconds)
        except asyncio.TimeoutError:
            raise RequestError(Code.DEADLINE_EXCEEDED, "The client sends too slowly.") from None
        self.unread = False
        if packing == "gzip":
            body = _unpacked(body, min(most, max(_SMALL, _MOST_EXPANSION * len(body))))
            self._hold(len(body))
        return body

    async def discard(self, seconds: float) -> None:
        """Lets a client send what nobody wants, for a while: else it could not read its answer."""
        with suppress(asyncio.TimeoutError, RequestError):
            await asyncio.wait_for(self._to_the_end(), seconds)

    def release(self) -> None:
        """The request is answered."""
        if self._leaving is not None:
            self._leaving.cancel()
        self._room.together += self._held
        self._held = 0

    async def _parts(self) -> AsyncIterator[bytes]:
        """What comes, until the body's end."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise RequestError(Code.CANCELLED, "The client left in mid-body.")
            more = message["more_body"]
            yield message["body"]

    async def _whole(self, most: int) -> bytes:
        parts = []
        async for part in self._parts():
            self._hold(len(part))
            if self._held > most:
                raise TooLarge(most)
            parts.append(part)
        return b"".join(parts)

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _to_the_end(self) -> None:
        async for _ in self._parts():
            pass

    def _hold(self, count: int) -> None:
        if count > self._room.together:
            raise RequestError(
                Code.RESOURCE_EXHAUSTED, "Too many large requests are being read or answered."
            )
        self._room.together -= count
        self._held += count


def _unpacked(body: bytes, limit: int) -> bytes:
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        plain = reader.decompress(body, limit + 1)
    except zlib.error as error:
        raise invalid(f"Malformed gzip body: {error}.") from None
    if len(plain) > limit:
        raise TooLarge(limit, f" when unpacked ({len(body)} packed)")
    if not reader.eof:
        raise invalid("Malformed gzip body: it ends too early.")
    if reader.unused_data:
        raise invalid(
            f"Malformed gzip body: {len(reader.unused_data)} bytes follow its end. Expected one "
            "gzip member; pack the whole body at once."
        )
    return plain
