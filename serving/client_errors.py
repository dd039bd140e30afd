"""What a client raises, and which of it a server's status becomes."""

import json
import re
from typing import Any

import grpc

from pairloom.serving import wire

# A server that batches takes no request that is larger than a batch.
_TOO_MANY_ROWS = re.compile(r"larger than maximum input batch size (\d+)")
# What a client asks for that was told no name: the only model of a pairloom server.
DEFAULT_MODEL = "default"
_HANDSHAKE = re.compile("handshake|certificate|ssl_error|peer name", re.IGNORECASE)
_SOME_TLS_TROUBLE = (
    "it has none, or its certificate is of no authority that we know (--ca-file), or it wants one "
    "of ours (--cert-file, --key-file)"
)
_TLS_TROUBLE = {
    "WRONG_VERSION_NUMBER": "it has none",
    "CERTIFICATE_VERIFY_FAILED": "its certificate is of no authority that we know (--ca-file)",
    "Peer name": "its certificate is for another host",
}
_CLIENTS_FAULT = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


class ClientError(Exception):
    """A request that got no answer; the message says why."""


class ServerUnavailable(ClientError):
    """No server at the address, or no answer in time."""


class ModelNotFound(ClientError):
    """The server does not serve this model or version."""


class BadRequest(ClientError):
    """The model cannot take this request."""


class TooManyTexts(BadRequest):
    """More texts than the server takes at once.

    Args:
        message: What the server said.
        most: How many it takes.
    """

    def __init__(self, message: str, most: int):
        super().__init__(message)
        self.most = most


def client_error(
    error: Any, address: str, model: str, version: int | None, timeout: float
) -> ClientError:
    """The exception for a call that failed.

    Args:
        error: What gRPC raised.
        address: The server's.
        model: Which model was asked.
        version: Which of its versions; None: any.
        timeout: Seconds that it had.
    """
    code, details = error.code(), error.details() or ""
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return ServerUnavailable(f"{address} did not answer within {timeout:g} s.")
    if code == grpc.StatusCode.UNAVAILABLE and "queue" in details:
        return ServerUnavailable(f"{address} has too much to do: {details}.")
    if code == grpc.StatusCode.UNAVAILABLE and _HANDSHAKE.search(details):
        why = next(
            (why for sign, why in _TLS_TROUBLE.items() if sign in details), _SOME_TLS_TROUBLE
        )
        return ServerUnavailable(f"{address} and we do not agree on TLS: {why}. {details}")
    if code == grpc.StatusCode.UNAVAILABLE:
        return ServerUnavailable(
            f"No model server answers at {address}; start one with `pairloom serve`, and "
            "give its gRPC port, not its REST port, and `credentials` (--tls) where it has TLS "
            f"({details})."
        )
    if code == grpc.StatusCode.UNAUTHENTICATED:
        return ClientError(
            f"{address} answered UNAUTHENTICATED: give the `token` that it wants "
            f"(--token-file). {details}"
        )
    if code == grpc.StatusCode.NOT_FOUND and model == DEFAULT_MODEL and version is None:
        return ModelNotFound(
            f"{address} has nothing to answer who names no model: name one (`model`, --model). "
            + _how_to_choose(error)
        )
    if code == grpc.StatusCode.NOT_FOUND:
        asked = "" if version is None else f" version {version} of"
        return ModelNotFound(
            f"{address} does not serve{asked} {named_model(model)}: {details}. "
            + _how_to_choose(error)
        )
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED and "larger than max" not in details:
        return ServerUnavailable(f"{address} has too much to do: {details}.")
    if most := _TOO_MANY_ROWS.search(details):
        told = f"{details}: send at most {most[1]} texts at once."
        return TooManyTexts(told, int(most[1]))
    if code in _CLIENTS_FAULT:
        return BadRequest(details)
    return ClientError(f"{address} failed ({code.name}): {details}")


def named_model(model: str) -> str:
    """How to speak of a model, which nobody may have named."""
    return "its model" if model == DEFAULT_MODEL else f"model {model!r}"


def _how_to_choose(error: Any) -> str:
    """Which models there are, if the server tells, or else where that stands."""
    for key, value in error.trailing_metadata() or ():
        if key == wire.MODELS_KEY:
            return f"It serves: {', '.join(json.loads(value))}."
    return (
        "What is served stands in the server's log; `pairloom serve` also lists it at "
        "/page/models.json on its REST port."
    )
