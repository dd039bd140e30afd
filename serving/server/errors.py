"""What can go wrong: before serving (`ServingError`) and while answering (`RequestError`)."""

import enum
from collections.abc import Sequence

_LONGEST_MESSAGE = 2000


class ServingError(Exception):
    """The server cannot do what its flags ask; the message is one sentence for the user."""


class PortInUse(ServingError):
    """A port cannot be had, most often because another program has it."""


class Code(enum.IntEnum):
    """Canonical status codes: the numbers that gRPC, TensorFlow and TF Serving share."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class RequestError(Exception):
    """A request that is answered with an error.

    Args:
        code: The status a gRPC client sees; the REST API turns it into an HTTP status.
        message: What was expected and what was received, in TF Serving's words where it has them.
    """

    def __init__(self, code: Code, message: str):
        # A message may quote the request, and gRPC carries it in a header of at most 8 KB.
        raw = message.encode("utf-8", "replace")
        message = raw[:_LONGEST_MESSAGE].decode("utf-8", "ignore")
        message += "..." if len(raw) > _LONGEST_MESSAGE else ""
        super().__init__(message)
        self.code = code
        self.message = message


class NotFound(RequestError):
    """A model, or a version of it, that is not served.

    Args:
        message: As of `RequestError`.
        models: What is served, for whoever asked for a model that is not.
    """

    def __init__(self, message: str, models: Sequence[str] = ()):
        super().__init__(Code.NOT_FOUND, message)
        self.models = tuple(models)


def invalid(message: str) -> RequestError:
    """The error for a request that no server state could make right."""
    return RequestError(Code.INVALID_ARGUMENT, message)
