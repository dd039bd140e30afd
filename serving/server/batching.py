"""Many small requests as one large one, by TF Serving's parameters.

A batch costs far less than its rows one by one. Rows are grouped by signature and by length, so
that a long text does not hold up short ones; what a request gets back never depends on who else
was in its batch.
"""

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from pairloom.serving.description import Description
from pairloom.serving.server.call import Call
from pairloom.serving.server.config_files import BatchingParameters
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.padding import trim, trimmable
from pairloom.serving.server.saved_model import Arrays, LoadedModel, Request
from pairloom.serving.server.tensors import longest

_SHORT_BYTES = 32


@dataclasses.dataclass(eq=False)
class _Task:
    """One request in the queue."""

    request: Request
    rows: int
    call: Call
    since: float
    answer: "Future[Arrays]" = dataclasses.field(default_factory=Future)


@dataclasses.dataclass(eq=False)
class _Batch:
    """Tasks that will be computed together."""

    since: float
    tasks: list[_Task] = dataclasses.field(default_factory=list)
    rows: int = 0


class Batcher:
    """Runs requests to one model in batches.

    Args:
        model: The model.
        parameters: How large, how long, how many.
        observe: Called with the rows of every batch and the seconds its oldest task waited.
        description: What the model's outputs run along; None: they must have fixed sizes.
    """

    def __init__(
        self,
        model: LoadedModel,
        parameters: BatchingParameters,
        observe: Callable[[int, float], None] = lambda rows, seconds: None,
        description: Description | None = None,
    ):
        self._model = model
        self._parameters = parameters
        self._observe = observe
        self._description = description
        self._wait = parameters.batch_timeout_micros / 1e6
        self._queues: dict[tuple[Hashable, ...], deque[_Batch]] = {}
        # When those were answered who have not asked again since, the first answered first.
        self._away: deque[float] = deque()
        self._changed = threading.Condition()
        self._computing = 0
        self._closed = False
        self._when_closed: Callable[[], None] = lambda: None
        self._working = parameters.num_batch_threads
        # What was computed is handed out in a thread for it, so that others go on computing.
        self._answers = ThreadPoolExecutor(1, "answers")
        for number in range(parameters.num_batch_threads):
            threading.Thread(target=self._work, name=f"batch-{number}", daemon=True).start()

    def submit(self, request: Request, rows: int, call: Call) -> "Future[Arrays]":
        """Puts a request that the model has checked into a batch.

        Args:
            request: The request.
            rows: Its `batch_rows`, at least 1.
            call: Whoever waits for it.

        Returns:
            What it will be answered; an error if the model failed on this request, or nobody
            waited for it any more when its turn came.

        Raises:
            RequestError: It is too large, or the queue is full.
        """
        if rows > self._parameters.max_batch_size:
            raise invalid(
                f"Task size {rows} is larger than maximum input batch size "
                f"{self._parameters.max_batch_size}"
            )
        task = _Task(request, rows, call, time.monotonic())
        with self._changed:
            self._enqueue(task)
        return task.answer

    def close(self, closed: Callable[[], None] = lambda: None) -> None:
        """Stops the threads; all that was submitted must be answered, or waited for by nobody.

        Args:
            closed: Called when the last thread has ended: one may still compute what nobody waits
                for any more.
        """
        with self._changed:
            self._closed = True
            self._when_closed = closed
            self._changed.notify_all()

    def _enqueue(self, task: _Task) -> None:
        """Under the lock."""
        parameters = self._parameters
        key = group(task.request)
        queue = self._queues.get(key)
        if not queue or queue[-1].rows + task.rows > parameters.max_batch_size:
            signature = task.request.signature
            enqueued = sum(len(batches) for k, batches in self._queues.items() if k[0] == signature)
            if enqueued >= parameters.max_enqueued_batches:
                raise RequestError(
                    Code.UNAVAILABLE,
                    "The batch scheduling queue to which this task was submitted is full; "
                    f"currently {enqueued} batches enqueued and max_enqueued_batches is "
                    f"{parameters.max_enqueued_batches}",
                )
            queue = self._queues.setdefault(key, deque())
            queue.append(_Batch(task.since))
        batch = queue[-1]
        batch.tasks.append(task)
        batch.rows += task.rows
        if self._away:
            self._away.popleft()
            if not self._away:
                # Nobody else is expected: all that wait are ready.
                self._changed.notify_all()
        # Nobody need look at a batch that was there already and goes on waiting.
        if len(batch.tasks) == 1 or batch.rows >= parameters.max_batch_size:
            self._changed.notify()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            try:
                self._observe(batch.rows, time.monotonic() - batch.since)
                self._compute(batch.tasks)
            except BaseException as error:
                _fail(batch.tasks, error)
            with self._changed:
                self._computing -= 1
                self._changed.notify()
        with self._changed:
            self._working -= 1
            if not self._working:
                self._answers.submit(self._when_closed)
                self._answers.shutdown(wait=False)

    def _hand_out(self, tasks: Sequence[_Task], outputs: Arrays) -> None:
        with self._changed:
            self._away.extend([time.monotonic()] * len(tasks))
        try:
            shapes = {name: point.shape for name, point in tasks[0].request.outputs.items()}
            start = 0
            for task in tasks:
                own = slice(start, start + task.rows)
                mine = {name: array[own] for name, array in outputs.items()}
                task.answer.set_result(trim(mine, shapes, self._description))
                start += task.rows
        except BaseException as error:
            _fail(tasks, error)

    def _next(self) -> _Batch | None:
        """Waits for a batch that need not wait for others any more; the oldest first.

        That is one that is full, one whose time is up, any as soon as all who were answered
        lately have asked again, for nobody else is expected, and any while no other is computed:
        the model never rests while there is work, and many callers are computed together.
        """
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                while self._away and self._away[0] < now - self._wait:
                    self._away.popleft()
                oldest, soonest = None, None
                for key, queue in self._queues.items():
                    ready_at = queue[0].since + self._wait
                    full = len(queue) > 1 or queue[0].rows >= self._parameters.max_batch_size
                    if not full and ready_at > now and self._away and self._computing:
                        soonest = ready_at if soonest is None else min(soonest, ready_at)
                    elif oldest is None or queue[0].since < self._queues[oldest][0].since:
                        oldest = key
                if oldest is not None:
                    batch = self._queues[oldest].popleft()
                    if not self._queues[oldest]:
                        del self._queues[oldest]
                    self._computing += 1
                    return batch
                self._changed.wait(None if soonest is None else soonest - now)
        return None

    def _compute(self, tasks: Sequence[_Task]) -> None:
        """Computes together what somebody still waits for."""
        wanted = []
        for task in tasks:
            try:
                task.call.check()
                wanted.append(task)
            except RequestError as error:
                task.answer.set_exception(error)
        if not wanted:
            return
        try:
            self._answers.submit(self._hand_out, wanted, self._together(wanted))
        except Exception as error:
            if len(wanted) == 1:
                wanted[0].answer.set_exception(error)
                return
            # One of them is to blame, and only that one shall fail.
            half = len(wanted) // 2
            self._compute(wanted[:half])
            self._compute(wanted[half:])

    def _together(self, tasks: Sequence[_Task]) -> Arrays:
        first = tasks[0].request
        rows = sum(task.rows for task in tasks)
        limits = [task.call.deadline for task in tasks if task.call.deadline is not None]
        latest = max(limits) if len(limits) == len(tasks) else None
        inputs = {
            name: _filled([task.request.inputs[name] for task in tasks], self._padded_size(rows))
            for name in first.inputs
        }
        call = Call(latest, lambda: any(task.call.active() for task in tasks))
        outputs = self._model.compute(dataclasses.replace(first, inputs=inputs), call)
        for name, array in outputs.items():
            if not array.shape or len(array) != self._padded_size(rows):
                raise RequestError(
                    Code.FAILED_PRECONDITION,
                    "Batched output tensor's 0th dimension does not equal the sum of the 0th "
                    f"dimension sizes of the input tensors (output {name})",
                )
        return outputs

    def _padded_size(self, rows: int) -> int:
        sizes = (size for size in self._parameters.allowed_batch_sizes if size >= rows)
        return next(sizes, rows)


def batch_rows(request: Request, description: Description | None = None) -> int:
    """How many rows a request has, if it can share a batch; else 0.

    It can if every input and output has one row for each, and an output's further sizes are fixed
    or, by the model's description, can be trimmed back to what the request would have got alone.
    What has no input has no rows.

    Raises:
        RequestError: Its inputs are not equally many.
    """
    sizes = {array.shape[0] if array.shape else None for array in request.inputs.values()}
    if None in sizes or not sizes:
        return 0
    if len(sizes) > 1:
        raise invalid("Batching input tensors must all have equal 0th-dimension size")
    for endpoint in (*request.endpoints.values(), *request.outputs.values()):
        if not endpoint.shape or endpoint.shape[0] is not None:
            return 0
    shapes = {name: endpoint.shape for name, endpoint in request.outputs.items()}
    return sizes.pop() or 0 if trimmable(shapes, description) else 0


def group(request: Request) -> tuple[Hashable, ...]:
    """What requests in one batch have in common: what they ask, and about how long they are.

    The signature comes first.
    """
    lengths = (
        (name, array.shape[1:], max(longest(array), _SHORT_BYTES).bit_length())
        for name, array in sorted(request.inputs.items())
    )
    return request.signature, tuple(request.outputs), tuple(lengths)


def _fail(tasks: Sequence[_Task], error: BaseException) -> None:
    """Leaves nobody waiting, whatever went wrong."""
    for task in tasks:
        if not task.answer.done():
            task.answer.set_exception(error)


def _filled(arrays: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """All rows one below the other, the last one again up to `rows`."""
    joined = np.concatenate(arrays)
    missing = rows - len(joined)
    return np.concatenate([joined, np.repeat(joined[-1:], missing, axis=0)]) if missing else joined
