"""How a database of ML Metadata is named, waited for, and connected to again."""

import os
import re
import string
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import SplitResult, unquote, urlsplit

from ml_metadata import errors
from ml_metadata.metadata_store.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline.errors import UserError

__all__ = [
    "PATIENCE",
    "MetadataUnreachable",
    "connection_to",
    "holds_password",
    "patiently",
    "reconnecting",
]

Result = TypeVar("Result")

PATIENCE = 60.0
"""Seconds that a database may be away for."""

_FORMS = (
    "sqlite:///FILE, postgresql://USER:PASSWORD@HOST:PORT/DATABASE or "
    "mysql://USER:PASSWORD@HOST:PORT/DATABASE"
)
_PAUSE = 1.0
_MOST_CONNECTIONS = 3
_PASSWORD = re.compile(r"(?<=://)([^:/@]*):(.*)@")
# What PostgreSQL's and MySQL's clients say of a server that is gone, or was started anew.
_GONE = re.compile(r"connection|gone away|terminat", re.IGNORECASE)


class MetadataUnreachable(UserError):
    """The metadata database did not answer for a while."""


def connection_to(url: str) -> mlmd.ConnectionConfig:
    """The connection that a URL names.

    Args:
        url: `sqlite:///FILE`, `postgresql://USER:PASSWORD@HOST:PORT/DATABASE` or `mysql://...`.
            `$NAME` in it is taken from the environment, now: so a password need not be written
            into a recipe or a compiled pipeline.

    Raises:
        UserError: It is no such URL, or a variable in it is not set.
    """
    filled = _filled(url)
    try:
        parts = urlsplit(filled)
        port = parts.port
    except ValueError as error:
        raise _no_url(url, str(error)) from None
    config = mlmd.ConnectionConfig()
    if parts.scheme == "sqlite" and not parts.netloc and len(parts.path) > 1:
        config.sqlite.filename_uri = unquote(parts.path)
        config.sqlite.connection_mode = mlmd.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
        return config
    if parts.scheme not in ("postgresql", "postgres", "mysql"):
        raise _no_url(url, f"its scheme is {parts.scheme or 'missing'}")
    database = unquote(parts.path.strip("/"))
    if not parts.hostname or not database:
        raise _no_url(url, "it names no " + ("database" if parts.hostname else "host"))
    if parts.scheme == "mysql":
        # By name MySQL would look for a socket of this machine.
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname
        config.mysql.host, config.mysql.port, config.mysql.database = host, port or 3306, database
        config.mysql.user, config.mysql.password = _who(parts)
        return config
    config.postgresql.host, config.postgresql.port = parts.hostname, str(port or 5432)
    config.postgresql.dbname = database
    config.postgresql.user, config.postgresql.password = _who(parts)
    return config


def holds_password(url: str) -> bool:
    """Whether a database's URL has a password written out in it, not as `$NAME`."""
    found = _PASSWORD.search(url)
    return found is not None and "$" not in found[2]


def patiently(call: Callable[[], Result], config: mlmd.ConnectionConfig) -> Result:
    """Calls what connects to a database, again and again while that does not answer.

    Args:
        call: Raises RuntimeError where the database cannot be reached, as ML Metadata does.
        config: The database. A file is not waited for.

    Raises:
        MetadataUnreachable: It stayed away.
    """
    until = time.monotonic() + (0 if config.HasField("sqlite") else PATIENCE)
    waiting = False
    while True:
        try:
            return call()
        except RuntimeError as error:
            if time.monotonic() >= until:
                why = str(error).strip().splitlines()
                raise MetadataUnreachable(
                    f"Expected the metadata database {_address(config)} to answer. Received: "
                    f"{why[0] if why else 'nothing'}. Start it, or see that this machine reaches "
                    "it and that user and password are right, and run the same command again."
                ) from None
        if not waiting:
            print(f"Waiting for the metadata database {_address(config)}.", file=sys.stderr)
            waiting = True
        time.sleep(_PAUSE)


def reconnecting(store: MetadataStore, config: mlmd.ConnectionConfig) -> MetadataStore:
    """A store whose calls are made again where the connection was lost since it was opened.

    A call is one transaction: what was cut off is not there.

    Args:
        store: Of that database.
        config: The database. A file has no connection.
    """
    return store if config.HasField("sqlite") else cast(MetadataStore, _Reconnecting(store, config))


class _Reconnecting:
    def __init__(self, store: MetadataStore, config: mlmd.ConnectionConfig):
        self._store = store
        self._config = config

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._call, name)

    def _call(self, name: str, *arguments: Any, **options: Any) -> Any:
        for left in reversed(range(_MOST_CONNECTIONS)):
            try:
                return getattr(self._store, name)(*arguments, **options)
            except errors.StatusError as error:
                if not left or not _GONE.search(str(error)):
                    raise
            self._store = patiently(lambda: MetadataStore(self._config), self._config)


def _address(config: mlmd.ConnectionConfig) -> str:
    """A database as a message calls it: no password."""
    if config.HasField("sqlite"):
        return str(config.sqlite.filename_uri)
    if config.HasField("mysql"):
        return f"mysql://{config.mysql.host}:{config.mysql.port}/{config.mysql.database}"
    held = config.postgresql
    return f"postgresql://{held.host}:{held.port}/{held.dbname}"


def _shown(url: str) -> str:
    """A database's URL without the password."""
    return _PASSWORD.sub(r"\1@", url)


def _filled(url: str) -> str:
    try:
        return string.Template(url).substitute(os.environ)
    except KeyError as error:
        raise UserError(
            f"Expected the environment variable {error.args[0]}, which the metadata database "
            f"{_shown(url)} names. Received: it is not set."
        ) from None
    except ValueError:
        raise _no_url(url, "a lone $ is written $$") from None


def _who(parts: SplitResult) -> tuple[str, str]:
    return unquote(parts.username or ""), unquote(parts.password or "")


def _no_url(url: str, why: str) -> UserError:
    return UserError(f"Expected a metadata database as {_FORMS}. Received: {_shown(url)} ({why}).")
