"""A request's body: plain, in chunks, or packed with gzip. What is not clear is refused."""

import re
import zlib
from email.message import Message
from io import BufferedIOBase

from pairloom.serving.server.errors import Code, RequestError, invalid

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")


class TooLarge(RequestError):
    """A body over the limit."""

    def __init__(self, limit: int):
        super().__init__(Code.INVALID_ARGUMENT, f"The request body is over {limit} bytes.")


def has_body(headers: Message) -> bool:
    """Whether something may follow the headers, clear or not."""
    return "Transfer-Encoding" in headers or headers.get_all("Content-Length", ["0"]) != ["0"]


def read_body(headers: Message, file: BufferedIOBase, limit: int) -> bytes:
    """Reads the body that the headers announce.

    A proxy may read unclear headers otherwise than this server does, and take the rest of one
    request for the next; so they are an error, behind which the connection must be closed.

    Args:
        headers: The request's.
        file: The connection, at the body's first byte.
        limit: Largest body in bytes, also when unpacked.

    Raises:
        RequestError: The headers contradict themselves, or the body is not what they say.
        ConnectionError: The client left.
    """
    codings = headers.get_all("Transfer-Encoding", [])
    lengths = headers.get_all("Content-Length", [])
    if codings:
        if lengths or [coding.strip().lower() for coding in codings] != ["chunked"]:
            raise invalid(f"Expected Transfer-Encoding: chunked alone. Received: {codings}.")
        body = _chunks(file, limit)
    else:
        if len(lengths) > 1:
            raise invalid(f"Expected one Content-Length. Received: {lengths}.")
        text = lengths[0] if lengths else "0"
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            raise invalid(f"Malformed Content-Length: {text}")
        body = _exactly(file, int(text), limit)
    packed = headers.get("Content-Encoding", "identity").strip().lower()
    if packed == "gzip":
        return _unpacked(body, limit)
    if packed != "identity":
        raise invalid(f"Expected Content-Encoding gzip or none. Received: {packed}.")
    return body


def _exactly(file: BufferedIOBase, length: int, limit: int) -> bytes:
    if length > limit:
        raise TooLarge(limit)
    body = file.read(length)
    if len(body) < length:
        raise ConnectionError("The client left in mid-body.")
    return body


def _chunks(file: BufferedIOBase, limit: int) -> bytes:
    parts: list[bytes] = []
    total = 0
    while True:
        size_text = file.readline(1000).split(b";", 1)[0].strip()
        if not _CHUNK_SIZE.fullmatch(size_text):
            raise invalid("Malformed chunked body.")
        size = int(size_text, 16)
        total += size
        if total > limit:
            raise TooLarge(limit)
        if size == 0:
            while file.readline(1000).strip():
                pass
            return b"".join(parts)
        parts.append(_exactly(file, size, limit))
        if file.readline(1000).strip():
            raise invalid("Malformed chunked body.")


def _unpacked(body: bytes, limit: int) -> bytes:
    reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        plain = reader.decompress(body, limit + 1)
    except zlib.error as error:
        raise invalid(f"Malformed gzip body: {error}.") from None
    if len(plain) > limit:
        raise TooLarge(limit)
    if not reader.eof:
        raise invalid("Malformed gzip body: it ends too early.")
    if reader.unused_data:
        raise invalid(
            f"Malformed gzip body: {len(reader.unused_data)} bytes follow its end. Expected one "
            "gzip member; pack the whole body at once."
        )
    return plain
