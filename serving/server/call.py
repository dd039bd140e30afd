"""One request from its caller's side: how long it may take, whether somebody still waits."""

import dataclasses
import time
from collections.abc import Callable

from pairloom.serving.server.errors import Code, RequestError

# gRPC states a call without a deadline as one in some hundred years.
_NO_LIMIT = 1e7


@dataclasses.dataclass(eq=False)
class Call:
    """What is known of a request apart from its contents.

    Args:
        deadline: Monotonic time after which nobody waits any more; None: no limit.
        active: Says whether the caller is still there.
        id: For logs; so too the next two.
        peer: Where it came from.
        caller: The name of the token that it showed.
        api: The method, such as `Predict`.
        model: The name that is asked for, then that of the model that answers.
        version: Its version, once it is known; so too the rest.
        signature: Its signature.
        rows: How many inputs the request has.
        since: Monotonic time from which it is measured.
    """

    deadline: float | None = None
    active: Callable[[], bool] = lambda: True
    id: str = ""
    peer: str = ""
    caller: str = ""
    api: str = "Predict"
    model: str = ""
    version: int | None = None
    signature: str = ""
    rows: int = 0
    since: float = dataclasses.field(default_factory=time.monotonic)

    @classmethod
    def within(cls, seconds: float | None, id: str = "") -> "Call":
        """A call that must be answered within `seconds`; None: no limit."""
        call = cls(id=id)
        call.arrived(seconds)
        return call

    def arrived(self, seconds: float | None) -> None:
        """The whole request is there: from now on its time counts; None: no limit."""
        self.since = time.monotonic()
        if seconds is None or seconds >= _NO_LIMIT:
            self.deadline = None
        else:
            self.deadline = self.since + seconds

    def limit(self, seconds: float) -> None:
        """It may take no longer than this from now on, whatever its caller allows."""
        latest = time.monotonic() + seconds
        self.deadline = latest if self.deadline is None else min(self.deadline, latest)

    def remaining(self) -> float | None:
        """Seconds left, at least 0; None: no limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def leave(self) -> None:
        """The caller has gone."""
        self.active = lambda: False

    def check(self) -> None:
        """Raises `RequestError` if the time is up or the caller has gone."""
        if self.remaining() == 0:
            raise RequestError(Code.DEADLINE_EXCEEDED, "Deadline exceeded before the start.")
        if not self.active():
            raise RequestError(Code.CANCELLED, "The client cancelled the request.")
