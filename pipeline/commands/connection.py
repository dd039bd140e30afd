"""How a command reaches a served model: where, which version, and what to show at the door."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    import grpc

    from pairloom.serving.client import Client


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """The server, the model, and what a protected server wants."""
    parser.add_argument(
        "--address", default="localhost:8500", help="the server (default: localhost:8500)"
    )
    parser.add_argument(
        "--model",
        default="default",
        help="the model's name (default: the only one that `pairloom serve` serves)",
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--version", type=int, metavar="N", help="a version (default: the newest)")
    chosen.add_argument("--label", default="", help="a version by its label, such as stable")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds (default: 30)")
    guarded = parser.add_argument_group("protected servers")
    guarded.add_argument(
        "--token-file", metavar="FILE", help="holds the token that the server wants"
    )
    guarded.add_argument(
        "--tls", action="store_true", help="the server has TLS (so too with any of the next three)"
    )
    guarded.add_argument(
        "--ca-file",
        metavar="FILE",
        help="the authority that signed the server's certificate (default: the public ones)",
    )
    guarded.add_argument("--cert-file", metavar="FILE", help="our certificate, for mutual TLS")
    guarded.add_argument("--key-file", metavar="FILE", help="the key of our certificate")


def connect(args: argparse.Namespace) -> "Client":
    """A client as `add_connection_arguments` asked for it.

    Raises:
        UserError: a file cannot be read or is not what it should be, or the address is none.
    """
    # What gRPC's core would write to the terminal is told in the client's own words.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from pairloom.serving.client import Client

    try:
        return Client(
            args.address,
            model=args.model,
            version=args.version,
            timeout=args.timeout,
            label=args.label,
            token=token(args.token_file) if args.token_file else "",
            credentials=credentials(args),
        )
    except ValueError as error:
        raise UserError(str(error)) from None


def token(path: str) -> str:
    """The token in a file."""
    text = content("--token-file", path).decode("utf-8", "replace").strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise UserError(
            f"Expected --token-file to hold one token, ASCII characters without spaces. Received: "
            f"{path} with {len(text)} characters."
        )
    return text


def credentials(args: argparse.Namespace) -> "grpc.ChannelCredentials | None":
    """What TLS needs; None where it was not asked for."""
    if not (args.tls or args.ca_file or args.cert_file or args.key_file):
        return None
    if bool(args.cert_file) != bool(args.key_file):
        given = "--cert-file" if args.cert_file else "--key-file"
        raise UserError(
            f"Expected --cert-file and --key-file together, or neither. Received: {given} alone."
        )
    import grpc

    return grpc.ssl_channel_credentials(
        pem("--ca-file", args.ca_file),
        pem("--key-file", args.key_file),
        pem("--cert-file", args.cert_file),
    )


def pem(flag: str, path: str | None) -> bytes | None:
    """A PEM file; None without one."""
    if not path:
        return None
    data = content(flag, path)
    if b"-----BEGIN " not in data:
        raise UserError(f"Expected {flag} in PEM (-----BEGIN ...). Received: {path} without that.")
    return data


def content(flag: str, path: str) -> bytes:
    """A file's bytes."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UserError(
            f"Expected {flag} to name a file that can be read. Received: {path} "
            f"({error.strerror or error})."
        ) from None
