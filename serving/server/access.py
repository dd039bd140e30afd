"""Who may ask: by a bearer token, if the server has one, and by which name.

A page of another site must not read a server of this machine: a name that its owner points at
127.0.0.1 makes a browser take this server for that site (DNS rebinding); the name still stands in
the request.
"""

import hmac
import ipaddress
import logging
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pairloom.serving.server.errors import Code, RequestError, ServingError
from pairloom.serving.server.options import ServerOptions, is_loopback

logger = logging.getLogger("pairloom.serving")

_SHORTEST_TOKEN = 16
_NAME = re.compile(r"[\w.-]{0,100}", re.ASCII)


def read_tokens(path: str, flag: str = "token_file") -> dict[str, str]:
    """Reads a `--token_file` or another one: each token to its owner's name, which may be empty.

    A line holds one, perhaps with a name before it: `name: token`. Nothing without a path.
    """
    if not path:
        return {}
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ServingError(f"Cannot read --{flag} {path}: {error}.") from None
    expected = (
        f"{path} must hold one token of at least {_SHORTEST_TOKEN} ASCII characters "
        "without spaces, or a line for each, with a name of letters, digits, dots and "
        "dashes before it (name: token). Received: "
    )
    tokens = {}
    for line in filter(None, map(str.strip, lines)):
        name, _, token = line.rpartition(": ")
        token = token.strip()
        usable = len(token) >= _SHORTEST_TOKEN and token.isascii()
        if not usable or any(map(str.isspace, token)) or not _NAME.fullmatch(name):
            raise ServingError(f"{expected}a line of {len(line)} characters.")
        tokens[token] = name
    if not tokens:
        raise ServingError(f"{expected}none.")
    return tokens


class Token:
    """The tokens of a `--token_file`, read again when the file changes. Safe for threads.

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
        self._value = read_tokens(path)
        self._problem = ""

    def __bool__(self) -> bool:
        return bool(self._path)

    def check(self, header: str | None) -> str:
        """Raises `RequestError` unless `owner` knows whose token the header shows."""
        owner = self.owner(header)
        if owner is None:
            raise RequestError(
                Code.UNAUTHENTICATED,
                "This server needs a token: send the header `Authorization: Bearer <token>`.",
            )
        return owner

    def owner(self, header: str | None) -> str | None:
        """The name of whose token it is, by the Authorization header `Bearer <token>`.

        None if it is nobody's; empty where nobody needs one.
        """
        if not self:
            return ""
        scheme, _, given = (header or "").partition(" ")
        shown = given.strip().encode()
        # All are compared, so that the time says nothing.
        owners = [
            name
            for token, name in self._current().items()
            if hmac.compare_digest(shown, token.encode())
        ]
        return owners[0] if scheme.lower() == "bearer" and owners else None

    def _current(self) -> dict[str, str]:
        with self._lock:
            seen = _look(self._path)
            if seen == self._seen:
                return self._value
            self._seen = seen
            try:
                value = read_tokens(self._path)
                self._problem = ""
                if value != self._value:
                    self._value = value
                    logger.info("Callers must show the new token in %s from now on.", self._path)
            except ServingError as error:
                if str(error) != self._problem:
                    self._problem = str(error)
                    logger.warning("The token stays as it was: %s", error)
            return self._value


def _look(path: str) -> tuple[int, ...]:
    """What changes when a file does; the change time also tells of new permissions."""
    try:
        stat = os.stat(path)
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_ctime_ns


class Hosts:
    """Looks at the headers Host and Origin.

    Args:
        options: Where the server listens, and the names that it may be asked by.
    """

    def __init__(self, options: ServerOptions):
        names = [name.strip().lower() for name in options.allowed_hosts.split(",")]
        self._names = {name for name in names if name} | {"localhost"}
        # With a token a page must know it; without one, elsewhere, names are not known here.
        local = is_loopback(options.bind_address)
        self._checks = not options.token_file and (local or bool(options.allowed_hosts))
        self._cors = options.rest_api_enable_cors_support

    def check(self, headers: Mapping[str, str]) -> None:
        """Raises `RequestError` if a page of another site asks, or by another site's name."""
        if not self._checks:
            return
        host, origin = headers.get("host"), headers.get("origin")
        if host is not None and not self._known(f"//{host}"):
            received = f"Host: {host[:200]}"
        elif origin is not None and not self._cors and not self._known(origin):
            received = f"Origin: {origin[:200]}"
        else:
            return
        raise RequestError(
            Code.PERMISSION_DENIED,
            f"This server is not asked by that name. Received: {received}. Ask by its "
            "address or as localhost, or start it with --allowed_hosts or --token_file.",
        )

    def _known(self, address: str) -> bool:
        try:
            name = urlsplit(address).hostname or ""
            # Nobody can point an address elsewhere.
            return name in self._names or ipaddress.ip_address(name) is not None
        except ValueError:
            return False
