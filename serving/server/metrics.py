"""Counters and histograms, under TF Serving's names, as Prometheus reads them."""

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


def _exponential(scale: float, growth: float, count: int) -> tuple[float, ...]:
    """Upper bounds as TensorFlow makes them; the last bucket, without a bound, is one more."""
    return tuple(scale * growth**power for power in range(count - 1))


_MICROSECONDS = _exponential(10, 1.8, 33)
_ROWS = _exponential(1, 2, 15)


class Counter:
    """Numbers that only grow, one for each set of labels."""

    kind = "counter"

    def __init__(self, name: str, labels: Labels):
        self.name = name
        self._labels = labels
        self._values: dict[Labels, int] = {}

    def add(self, labels: Labels, amount: int = 1) -> None:
        """Counts; call it under the lock."""
        self._values[labels] = self._values.get(labels, 0) + amount

    def drop(self, first: Labels) -> None:
        """Forgets all whose labels begin with these; call it under the lock."""
        for labels in _beginning(self._values, first):
            del self._values[labels]

    def lines(self) -> list[str]:
        """The exposition lines."""
        return [
            f"{self.name}{_braces(self._labels, values)} {value}"
            for values, value in sorted(self._values.items())
        ]


class Histogram:
    """How often which sizes came, for each set of labels."""

    kind = "histogram"

    def __init__(self, name: str, labels: Labels, bounds: Sequence[float] = _MICROSECONDS):
        self.name = name
        self._labels = labels
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def add(self, labels: Labels, value: float) -> None:
        """Counts; call it under the lock."""
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._counts[labels] = [0] * (len(self._bounds) + 1)
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + value

    def drop(self, first: Labels) -> None:
        """Forgets all whose labels begin with these; call it under the lock."""
        for labels in _beginning(self._counts, first):
            del self._counts[labels], self._sums[labels]

    def lines(self) -> list[str]:
        """The exposition lines."""
        lines = []
        for values, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*self._bounds, None), counts):
                total += count
                limit = "+Inf" if bound is None else f"{bound:g}"
                where = _braces((*self._labels, "le"), (*values, limit))
                lines.append(f"{self.name}_bucket{where} {total}")
            braces = _braces(self._labels, values)
            lines.append(f"{self.name}_sum{braces} {self._sums[values]:.10g}")
            lines.append(f"{self.name}_count{braces} {total}")
        return lines


class Metrics:
    """What the server counts. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gauges: dict[str, Callable[[], float]] = {}
        self._requests = Counter(":tensorflow:serving:request_count", ("model_name", "status"))
        self._latency = Histogram(
            ":tensorflow:serving:request_latency", ("model_name", "API", "entrypoint")
        )
        self._runtime = Histogram(
            ":tensorflow:serving:runtime_latency", ("model_name", "API", "runtime")
        )
        self._loads = Counter(
            ":tensorflow:cc:saved_model:load_attempt_count", ("model_path", "status")
        )
        self._load_time = Counter(":tensorflow:cc:saved_model:load_latency", ("model_path",))
        # Where each version was loaded from, so that its counts go when it goes.
        self._paths: dict[tuple[str, int], set[str]] = {}
        self._queueing = Histogram(
            ":tensorflow:serving:batching_session:queuing_latency", ("thread_pool_name",)
        )
        self._batches = Counter(":tensorflow:serving:batching_session:wrapped_run_count", ())
        self._rows = Histogram(
            ":tensorflow:serving:batching_session:processed_batch_size",
            ("thread_pool_name",),
            _ROWS,
        )
        # TF Serving's have no version and no signature.
        self._by_signature = Histogram(
            ":pairloom:serving:latency", ("model_name", "version", "signature")
        )

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
                if isinstance(metric, Counter | Histogram):
                    lines += [f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        for name, value in self._gauges.items():
            lines += [f"# TYPE {name} gauge", f"{name} {value():.10g}"]
        return ("\n".join(lines) + "\n").encode("utf-8")


def _beginning(known: Iterable[Labels], first: Labels) -> list[Labels]:
    return [labels for labels in known if labels[: len(first)] == first]


def _braces(names: Sequence[str], values: Sequence[str]) -> str:
    pairs: Mapping[str, str] = dict(zip(names, values, strict=True))
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs.items())
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
