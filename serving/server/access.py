"""Who may ask: a bearer token for gRPC and REST, if the server has one."""

import hmac
import logging
import os
import threading
from pathlib import Path

from pairloom.serving.server.errors import Code, RequestError, ServingError

logger = logging.getLogger("pairloom.serving")

_SHORTEST_TOKEN = 16


def read_token(path: str) -> str:
    """Reads a `--token_file`; empty without one."""
    if not path:
        return ""
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServingError(f"Cannot read --token_file {path}: {error}.") from None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or any(map(str.isspace, token)):
        raise ServingError(
            f"{path} must hold one token of at least {_SHORTEST_TOKEN} ASCII characters without "
            f"spaces. Received: {len(token)} characters."
        )
    return token


class Token:
    """The token of a `--token_file`, read again when the file changes. Safe for threads.

    A file that cannot be used leaves the token as it was: nobody is let in, and nobody shut out,
    by a file that is being written.

    Args:
        path: The file; empty: everybody may ask.

    Raises:
        ServingError: The file holds no token.
    """

    def __init__(self, path: str):
        self._path = path
        self._lock = threading.Lock()
        # Looked at before it is read: what is written in between is seen the next time.
        self._seen = _look(path)
        self._value = read_token(path)
        self._problem = ""

    def __bool__(self) -> bool:
        return bool(self._path)

    def check(self, header: str | None) -> None:
        """Raises `RequestError` unless the Authorization header is `Bearer <token>`."""
        if not self:
            return
        scheme, _, given = (header or "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self._current().encode())
        if not (scheme.lower() == "bearer" and right):
            raise RequestError(
                Code.UNAUTHENTICATED,
                "This server needs a token: send the header `Authorization: Bearer <token>`.",
            )

    def _current(self) -> str:
        with self._lock:
            seen = _look(self._path)
            if seen != self._seen:
                self._seen = seen
                self._read_again()
            return self._value

    def _read_again(self) -> None:
        try:
            value = read_token(self._path)
        except ServingError as error:
            if str(error) != self._problem:
                self._problem = str(error)
                logger.warning("The token stays as it was: %s", error)
            return
        self._problem = ""
        if value != self._value:
            self._value = value
            logger.info("Callers must show the new token in %s from now on.", self._path)


def _look(path: str) -> tuple[int, ...]:
    """What changes when a file does; the change time also tells of new permissions."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_ctime_ns
