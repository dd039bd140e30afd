"""By which name a browser may ask: a page of another site must not read a server of this machine.

A name that its owner points at 127.0.0.1 makes a browser take this server for that site (DNS
rebinding); the name still stands in the request.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.options import ServerOptions, is_loopback


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
            raise _refusal("Host", host)
        if origin is not None and not self._cors and not self._known(origin):
            raise _refusal("Origin", origin)

    def _known(self, address: str) -> bool:
        try:
            name = urlsplit(address).hostname or ""
            # Nobody can point an address elsewhere.
            return name in self._names or ipaddress.ip_address(name) is not None
        except ValueError:
            return False


def _refusal(header: str, value: str) -> RequestError:
    return RequestError(
        Code.PERMISSION_DENIED,
        f"This server is not asked by that name. Received: {header}: {value[:200]}. Ask by its "
        "address or as localhost, or start it with --allowed_hosts or --token_file.",
    )
