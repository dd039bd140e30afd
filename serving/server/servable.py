"""One version of one model, from the folder to the last request that it answers."""

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from pairloom.kinds import find_kind, kind_names
from pairloom.serving.description import Description, Field
from pairloom.serving.server.batching import Batcher, batch_rows
from pairloom.serving.server.call import Call
from pairloom.serving.server.config_files import BatchingParameters
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.metrics import Metrics
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays, LoadedModel
from pairloom.serving.server.tensors import longest

# A model that reads far more than it ever saw fills the memory, and has nothing good to say.
LONGEST_TEXT = 100_000
# Each row of a search is work for a whole network, many times over.
MOST_ROWS = 256
_ANY = 2**63 - 1
_FOR_EVER = 1e9


@dataclasses.dataclass(frozen=True)
class AnswerSettings:
    """How versions answer.

    Args:
        options: The limits on what a request may bring and take.
        batching: How requests are put together; None: each alone.
        metrics: Where to count.
        pool: Computes what is not put together.
    """

    options: ServerOptions = ServerOptions()
    batching: BatchingParameters | None = None
    metrics: Metrics = dataclasses.field(default_factory=Metrics)
    pool: Executor = dataclasses.field(default_factory=ThreadPoolExecutor)


class Servable:
    """A loaded version that is closed when it is retired and nobody uses it any more."""

    def __init__(
        self,
        name: str,
        version: int,
        model: LoadedModel,
        settings: AnswerSettings | None = None,
        description: Description | None = None,
    ):
        self.name = name
        self.version = version
        self.model = model
        self._settings = settings = settings or AnswerSettings()
        self._description = description
        self._limits = _limits(model, description) if description is not None else {}
        self._batcher = None
        if settings.batching is not None:
            self._batcher = Batcher(model, settings.batching, settings.metrics.batch, description)
        usual = _ANY if description is None else MOST_ROWS
        self._max_rows = settings.options.max_rows or usual
        self._users = 0
        self._closed: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def start(
        self,
        signature: str,
        inputs: Mapping[str, np.ndarray],
        output_filter: Sequence[str] = (),
        call: Call | None = None,
    ) -> "Future[Arrays]":
        """Hands one request over to be computed, alone or in a batch; the model stays until then.

        Returns:
            What it will be answered; a `RequestError` if the model failed on it, or nobody waited
            any more.

        Raises:
            RequestError: It does not fit the signature, nobody waits any more already, or the
                server has too much to do.
        """
        call = call or Call()
        call.model, call.version, call.signature = self.name, self.version, signature
        request = self.model.check(signature, inputs, output_filter)
        call.rows = max((len(x) for x in request.inputs.values() if x.shape), default=1)
        self.check_rows(call.rows)
        for name, array in request.inputs.items():
            self._check_length(name, array)
        call.limit(self._settings.options.max_computing_seconds or _FOR_EVER)
        call.check()
        started = time.monotonic()
        rows = batch_rows(request, self._description) if self._batcher is not None else 0
        if self._batcher is not None and rows:
            answer = self._batcher.submit(request, rows, call)
        else:
            answer = self._settings.pool.submit(self.model.compute, request, call)
        self.acquire()
        answer.add_done_callback(lambda answer: self._computed(answer, call, started))
        return answer

    def run(
        self,
        signature: str,
        inputs: Mapping[str, np.ndarray],
        output_filter: Sequence[str] = (),
        call: Call | None = None,
    ) -> Arrays:
        """Answers one request, in a thread that can wait; errors are those of `start`."""
        call = call or Call()
        return wait_for(self.start(signature, inputs, output_filter, call), call)

    def _computed(self, answer: "Future[Arrays]", call: Call, started: float) -> None:
        if not answer.exception():
            self._settings.metrics.computed(call, time.monotonic() - started)
        self._release()

    def check_rows(self, rows: int) -> None:
        """Raises `RequestError` if a request has too many; before they are read, it costs least."""
        if rows > self._max_rows:
            raise invalid(
                f"The request has {rows} rows; the server takes at most {self._max_rows} (its flag "
                "--max_rows). Send several requests."
            )

    def _check_length(self, name: str, array: np.ndarray) -> None:
        limit = self._settings.options.max_input_bytes or self._limits.get(name, _ANY)
        if longest(array) > limit:
            raise invalid(
                f"Input {name} holds a string of {longest(array)} bytes; the server takes at most "
                f"{limit} (its flag --max_input_bytes)."
            )

    def acquire(self) -> None:
        """Counts one more user; never call it on a servable that is out of the registry."""
        with self._lock:
            self._users += 1

    @contextmanager
    def in_use(self) -> Iterator["Servable"]:
        """Gives the servable to a user counted by `acquire`, and counts it off afterwards."""
        try:
            yield self
        finally:
            self._release()

    def retire(self, closed: Callable[[], None]) -> None:
        """Frees the model, now or when its last user is done, and calls `closed` then."""
        with self._lock:
            self._closed = closed
            idle = self._users == 0
        if idle:
            self._close()

    def _release(self) -> None:
        with self._lock:
            self._users -= 1
            last = self._users == 0 and self._closed is not None
        if last:
            self._close()

    def _close(self) -> None:
        if self._batcher is not None:
            self._batcher.close(self._free)
        else:
            self._free()

    def _free(self) -> None:
        self.model.close()
        assert self._closed is not None
        self._closed()


def _limits(model: LoadedModel, description: Description) -> dict[str, int]:
    """How long a string may be in an input.

    Where its kind is text, as long as the longest that the model learned from, at most
    `LONGEST_TEXT`; where its values are files, what its field says; no limit elsewhere.
    """
    fields = {field.name: field for field in (*description.inputs, description.output)}
    for signature in (DEFAULT_SIGNATURE, "score"):
        if signature in model.signature_defs:
            # What is named after no field is a value, or the beginning of one, of the output.
            for name in model.inputs(signature):
                fields.setdefault(name, description.output)
    kinds = {name: find_kind(f.kind) for name, f in fields.items() if f.kind in kind_names()}
    texts = {name: _longest(fields[name], description) for name in kinds if kinds[name].is_text}
    told = {name: fields[name].details.get("most_bytes") for name in kinds}
    return texts | {name: int(most) for name, most in told.items() if most is not None}


def _longest(field: Field, description: Description) -> int:
    """As long as the longest that the model learned from; of a document that is each sentence."""
    flat = len(description.axes.get(field.tokens, ())) == 1
    # A character has four bytes at most.
    known = 4 * description.longest if flat else 0
    return min(LONGEST_TEXT, known or LONGEST_TEXT)


def wait_for(answer: "Future[Arrays]", call: Call) -> Arrays:
    """Waits for what `Servable.start` gave, until the call's deadline."""
    # Not by the future's own wait, which may end before the answer is counted.
    done = threading.Event()
    answer.add_done_callback(lambda _: done.set())
    if not done.wait(call.remaining()):
        raise RequestError(Code.DEADLINE_EXCEEDED, "Deadline exceeded.")
    return answer.result()
