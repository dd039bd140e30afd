"""Counts and logs every request, whichever way it came."""

import asyncio
import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.metrics import Metrics

logger = logging.getLogger("pairloom.serving.requests")

UNKNOWN_MODEL = "(unknown)"

_LONGEST_NAME = 200
_CLOSE_TO_DEADLINE = 0.05
_USABLE_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)


class Monitor:
    """Watches requests.

    Args:
        metrics: Where to count.
        log: Whether each request gets a line in the log.
        model_of: The model that a name asks for; empty if there is none.
    """

    def __init__(
        self,
        metrics: Metrics,
        log: bool = False,
        model_of: Callable[[str], str] = lambda name: name,
    ):
        self.metrics = metrics
        self._log = log
        self._model_of = model_of
        self._lock = threading.Lock()
        self.in_flight = 0
        """Requests that are being answered."""
        self.begun = 0
        """Requests that ever came."""

    @contextmanager
    def watch(self, call: Call, api: str, entrypoint: str) -> Iterator[None]:
        """Notes how what happens inside ended, as `note` does.

        Args:
            call: The request; by the end it knows which model it asked.
            api: The method, such as `Predict`.
            entrypoint: `GRPC` or `REST`.
        """
        call.api = api
        code, reason = Code.OK, ""
        with self._lock:
            self.in_flight += 1
            self.begun += 1
        try:
            yield
        except RequestError as error:
            code, reason = error.code, error.message
            raise
        except asyncio.CancelledError:
            # Its caller has gone, or gave up at its deadline, which is earlier than ours by the
            # way of the request.
            call.leave()
            left = call.remaining()
            late = left is not None and left < _CLOSE_TO_DEADLINE
            code = Code.DEADLINE_EXCEEDED if late else Code.CANCELLED
            raise
        except BaseException:
            code = Code.INTERNAL
            raise
        finally:
            with self._lock:
                self.in_flight -= 1
            self.note(call, entrypoint, code, reason)

    def note(self, call: Call, entrypoint: str, code: Code, reason: str = "") -> None:
        """Notes how a request ended, and how long after `call.since`.

        Args:
            call: The request, which knows its method and the model it asked.
            entrypoint: `GRPC` or `REST`.
            code: How it ended.
            reason: What its caller was told, if it failed.
        """
        seconds = time.monotonic() - call.since
        # Callers can make up as many names as they like.
        counted = call.model and (self._model_of(call.model) or UNKNOWN_MODEL)
        self.metrics.request(counted, call.api, entrypoint, code, seconds)
        if self._log:
            model = (self._model_of(call.model) or call.model)[:_LONGEST_NAME]
            details = {
                "request_id": request_id(call.id),
                "api": call.api,
                "entrypoint": entrypoint,
                "peer": call.peer or None,
                "caller": call.caller or None,
                "model": model,
                "version": call.version,
                "signature": call.signature[:_LONGEST_NAME],
                "rows": call.rows,
                "status": code.name,
                "milliseconds": round(1e3 * seconds, 3),
                "error": reason or None,
            }
            known = {name: value for name, value in details.items() if value is not None}
            message = f"{call.api} {model or '-'} {code.name}"
            logger.info("%s", message, extra={"details": known})


def request_id(given: str | None) -> str:
    """The id that the caller gave, if it can stand in a log, or a new one."""
    return given if given and _USABLE_ID.fullmatch(given) else uuid.uuid4().hex[:16]
