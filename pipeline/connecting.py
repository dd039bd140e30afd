"""How a database of ML Metadata is named, and how it is waited for."""

import os
import re
import string
import sys
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline.errors import UserError

__all__ = ["PATIENCE", "MetadataUnreachable", "connection_to", "patiently"]

Result = TypeVar("Result")

PATIENCE = 60.0
"""Seconds that a database may be away for."""

_FORMS = (
    "sqlite:///FILE, postgresql://USER:PASSWORD@HOST:PORT/DATABASE or "
    "mysql://USER:PASSWORD@HOST:PORT/DATABASE"
)
_PAUSE = 1.0


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
    return re.sub(r"(?<=://)([^:/@]*):[^@/]*@", r"\1@", url)


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
