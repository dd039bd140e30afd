"""Who may ask: a bearer token for gRPC and REST, if the server has one."""

import hmac
from pathlib import Path

from pairloom.serving.server.errors import Code, RequestError, ServingError

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


def check_token(token: str, header: str | None) -> None:
    """Raises `RequestError` unless the Authorization header is `Bearer <token>`."""
    scheme, _, given = (header or "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if token and not (scheme.lower() == "bearer" and right):
        raise RequestError(
            Code.UNAUTHENTICATED,
            "This server needs a token: send the header `Authorization: Bearer <token>`.",
        )
