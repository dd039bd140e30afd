"""Counters and histograms, under TF Serving's names, as Prometheus reads them."""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]

_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

# Upper bounds as TensorFlow makes them; the last bucket, without a bound, is one more.
_MICROSECONDS = tuple(10 * 1.8**power for power in range(32))
_ROWS = tuple(2.0**power for power in range(14))


class Counter:
    """Numbers that only grow, one for each set of labels; to be used under a lock."""

    kind = "counter"

    def __init__(self, name: str, *labels: str):
        self.name = name
        self._labels = labels
        self._values: dict[Labels, list[float]] = {}

    def add(self, labels: Labels, amount: float = 1) -> None:
        """Counts."""
        self._values.setdefault(labels, [0])[0] += amount

    def drop(self, first: Labels) -> None:
        """Forgets all whose labels begin with these."""
        kept = {k: v for k, v in self._values.items() if k[: len(first)] != first}
        self._values = kept

    def lines(self) -> Iterator[str]:
        """The exposition lines."""
        for labels, values in sorted(self._values.items()):
            yield from self._written(labels, values)

    def _written(self, labels: Labels, values: Sequence[float]) -> Iterator[str]:
        yield f"{self.name}{_braces(self._labels, labels)} {values[0]}"


class Histogram(Counter):
    """How often which sizes came, for each set of labels."""

    kind = "histogram"

    def __init__(self, name: str, *labels: str, bounds: Sequence[float] = _MICROSECONDS):
        super().__init__(name, *labels)
        self._bounds = (*bounds, math.inf)

    def add(self, labels: Labels, amount: float = 1) -> None:
        """Counts a size."""
        # The buckets, then the sum.
        values = self._values.setdefault(labels, [0] * (len(self._bounds) + 1))
        values[bisect_left(self._bounds, amount)] += 1
        values[-1] += amount

    def _written(self, labels: Labels, values: Sequence[float]) -> Iterator[str]:
        *counts, total = values
        for bound, count in zip(self._bounds, accumulate(counts)):
            limit = "+Inf" if bound == math.inf else f"{bound:g}"
            yield f"{self.name}_bucket{_braces((*self._labels, 'le'), (*labels, limit))} {count}"
        braces = _braces(self._labels, labels)
        yield f"{self.name}_sum{braces} {total:.10g}"
        yield f"{self.name}_count{braces} {sum(counts)}"


class Metrics:
    """What the server counts. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gauges: dict[str, Callable[[], float]] = {}
        served, batched = ":tensorflow:serving:", ":tensorflow:serving:batching_session:"
        self._requests = Counter(f"{served}request_count", "model_name", "status")
        self._latency = Histogram(f"{served}request_latency", "model_name", "API", "entrypoint")
        self._runtime = Histogram(f"{served}runtime_latency", "model_name", "API", "runtime")
        loaded = ":tensorflow:cc:saved_model:load_"
        self._loads = Counter(f"{loaded}attempt_count", "model_path", "status")
        self._load_time = Counter(f"{loaded}latency", "model_path")
        # Where each version was loaded from, so that its counts go when it goes.
        self._paths: dict[tuple[str, int], set[str]] = {}
        self._queueing = Histogram(f"{batched}queuing_latency", "thread_pool_name")
        self._batches = Counter(f"{batched}wrapped_run_count")
        self._rows = Histogram(f"{batched}processed_batch_size", "thread_pool_name", bounds=_ROWS)
        # TF Serving's have no version and no signature.
        names = ("model_name", "version", "signature")
        self._by_signature = Histogram(":pairloom:serving:latency", *names)

    def request(self, model: str, api: str, entrypoint: str, code: Code, seconds: float) -> None:
        """Counts an answered request."""
        with self._lock:
            self._requests.add((model, code.name))
            if code is Code.OK:
                self._latency.add((model, api, entrypoint), 1e6 * seconds)

    def computed(self, call: Call, seconds: float) -> None:
        """Counts what a model computed for a request."""
        with self._lock:
            self._runtime.add((call.model, call.api, "TF1"), 1e6 * seconds)
            labels = (call.model, str(call.version), call.signature)
            self._by_signature.add(labels, 1e6 * seconds)

    def forget(self, model: str, version: int) -> None:
        """Drops what only a version that is gone would go on to show."""
        with self._lock:
            self._by_signature.drop((model, str(version)))
            for path in self._paths.pop((model, version), ()):
                self._loads.drop((path,))
                self._load_time.drop((path,))

    def loaded(self, model: str, version: int, path: str, ok: bool, seconds: float) -> None:
        """Counts an attempt to load a version."""
        with self._lock:
            self._paths.setdefault((model, version), set()).add(path)
            self._loads.add((path, "success" if ok else "fail"))
            self._load_time.add((path,), int(1e6 * seconds))

    def batch(self, rows: int, seconds: float) -> None:
        """Counts a batch, and how long its oldest request waited."""
        with self._lock:
            self._batches.add(())
            self._rows.add(("batch_threads",), rows)
            self._queueing.add(("batch_threads",), 1e6 * seconds)

    def gauge(self, name: str, value: Callable[[], float]) -> None:
        """Shows a number as it is when somebody looks."""
        self._gauges[name] = value

    def page(self) -> bytes:
        """Everything, in Prometheus's text format."""
        with self._lock:
            lines = []
            for metric in vars(self).values():
                if isinstance(metric, Counter):
                    lines += [f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        for name, value in self._gauges.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value():.10g}"]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _braces(names: Labels, values: Labels) -> str:
    escaped = (value.translate(_ESCAPED) for value in values)
    return (
        "{"
        + ",".join(f'{name}="{value}"' for name, value in zip(names, escaped, strict=True))
        + "}"
    )
