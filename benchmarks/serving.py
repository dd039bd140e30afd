"""What the embedded server costs, beside the SavedModel's own function called in a loop.

    .venv/bin/python benchmarks/serving.py runs/NAME/serving/NAME sentences.txt

Three questions, asked in turns in every round: how much later than the bare function does the
server answer a single request; how many sentences a second do 64 clients get from it, with batching
and without; and how many does the bare function give when it is called with whole batches. The
clients are ghz (`make load-tools`) on the same machine, so the server has what it leaves of it.
"""

import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairloom.serving.client import Client

BATCHING = """
max_batch_size { value: 64 }
batch_timeout_micros { value: 10000 }
max_enqueued_batches { value: 100 }
num_batch_threads { value: THREADS }
"""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base_path", type=Path, help="a model's folder of versions")
    parser.add_argument("sentences", type=Path, help="a text file, one input a line")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--batch-threads",
        type=int,
        default=os.cpu_count(),
        help="num_batch_threads; fewer than cores where gRPC itself needs one, as it does for a\n"
        "model of half a millisecond",
    )
    parser.add_argument("--ghz", default=".tools/ghz")
    args = parser.parse_args()
    sentences = read(args.sentences)
    print(f"{len(sentences)} sentences, {args.clients} clients, {os.cpu_count()} cores")
    bare = Bare(args.base_path)
    rows: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(args.base_path) as plain,
        Server(args.base_path, args.batch_threads) as batched,
    ):
        requests = requests_file(sentences, Path(folder))
        for _ in range(args.rounds):
            note(rows, "bare, one at a time, ms", 1e3 * median_seconds(bare.one, sentences))
            for name, server in (("plain", plain), ("batching", batched)):
                with Client(server.address) as client:
                    seconds = median_seconds(lambda text, c=client: c.predict(text), sentences)
                note(rows, f"server ({name}), one at a time, ms", 1e3 * seconds)
            for name, server in (("plain", plain), ("batching", batched)):
                found = run_load(args, server.address, requests)
                note(rows, f"server ({name}), {args.clients} clients, sentences/s", found["rate"])
                note(rows, f"server ({name}), slowest of 100, ms", 1e3 * found["p99"])
                if found["failed"]:
                    print(f"requests failed: {found['failed']}")
            note(rows, "bare, batches of 64, sentences/s", bare.rate(sentences, 64, args.seconds))
            note(rows, "bare, one by one, sentences/s", bare.rate(sentences, 1, args.seconds / 3))
    for name, values in rows.items():
        shown = ", ".join(f"{value:.2f}" for value in values)
        print(f"{name}: {np.median(values):.2f} ({shown})")
    added = [
        float(np.median(np.subtract(rows[f"server ({name}), one at a time, ms"], rows[one])))
        for one in ("bare, one at a time, ms",)
        for name in ("plain", "batching")
    ]
    print(f"added to one request: {added[0]:.2f} ms, with batching {added[1]:.2f} ms")
    many = f", {args.clients} clients, sentences/s"
    gain = ratio(rows, f"server (batching){many}", f"server (plain){many}")
    print(f"batching / none: {gain:.2f}")
    share = ratio(rows, f"server (batching){many}", "bare, batches of 64, sentences/s")
    print(f"server with batching / bare function in batches: {share:.0%}")


def read(path: Path) -> list[str]:
    """The sentences, in an order that mixes their lengths."""
    sentences = [line for line in path.read_text("utf-8").splitlines() if line]
    random.Random(0).shuffle(sentences)
    return sentences


def note(rows: dict[str, list[float]], name: str, value: float) -> None:
    """Writes a figure down, and says that it is there."""
    rows.setdefault(name, []).append(value)
    print(f"  {name}: {value:.2f}", file=sys.stderr, flush=True)


def ratio(rows: dict[str, list[float]], above: str, below: str) -> float:
    """The median of the rounds' ratios."""
    return float(np.median(np.divide(rows[above], rows[below])))


def median_seconds(call, sentences: Sequence[str], times: int = 60) -> float:
    """How long a single call takes, half of the time."""
    found = []
    for text in sentences[:times]:
        started = time.perf_counter()
        call(text)
        found.append(time.perf_counter() - started)
    return float(np.median(found))


class Bare:
    """The SavedModel's own function, in this process."""

    def __init__(self, base_path: Path):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as tf
        import tensorflow_text  # noqa: F401

        newest = max(
            (p for p in base_path.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)
        )
        self._loaded = tf.saved_model.load(str(newest))
        self._function = self._loaded.signatures["serving_default"]
        (self._name,) = self._function.structured_input_signature[1]
        self._tf = tf
        self.one("warm")

    def one(self, *texts: str) -> None:
        """Answers, and waits for it."""
        outputs = self._function(**{self._name: self._tf.constant(texts)})
        for output in outputs.values():
            output.numpy()

    def rate(self, sentences: Sequence[str], size: int, seconds: float) -> float:
        """Sentences a second in batches, in the order in which they come."""
        self.one(*sentences[:size])
        started = time.perf_counter()
        done = 0
        while time.perf_counter() - started < seconds:
            start = done % (len(sentences) - size + 1)
            self.one(*sentences[start : start + size])
            done += size
        return done / (time.perf_counter() - started)


class Server:
    """`pairloom serve` in a process of its own, until the block ends.

    Args:
        base_path: The model.
        batch_threads: Batches at once; None: no batching.
    """

    def __init__(self, base_path: Path, batch_threads: int | None = None):
        self._base_path = base_path
        self._batch_threads = batch_threads

    def __enter__(self) -> "Server":
        command = [
            str(Path(sys.executable).with_name("pairloom")),
            "serve",
            f"--model_base_path={self._base_path.resolve()}",
            "--model_name=m",
            "--port=0",
            "--rest_api_port=0",
        ]
        if self._batch_threads:
            self._file = tempfile.NamedTemporaryFile("w", suffix=".config")
            self._file.write(BATCHING.replace("THREADS", str(self._batch_threads)))
            self._file.flush()
            command += ["--enable_batching", f"--batching_parameters_file={self._file.name}"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.address = line.split("grpc ")[1].split(",")[0].strip()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


def requests_file(sentences: Sequence[str], folder: Path) -> Path:
    """A request a sentence, as ghz reads them."""
    requests = [
        {
            "model_spec": {"name": "m"},
            "inputs": {
                "source": {
                    "dtype": "DT_STRING",
                    "tensor_shape": {"dim": [{"size": 1}]},
                    "string_val": [base64.b64encode(text.encode()).decode()],
                }
            },
        }
        for text in sentences
    ]
    path = folder / "requests.json"
    path.write_text(json.dumps(requests))
    return path


def run_load(args: argparse.Namespace, address: str, requests: Path) -> dict:
    """Clients that each ask again as soon as they have their answer."""
    command = [args.ghz, "--insecure", "--call", "tensorflow.serving.PredictionService/Predict"]
    command += ["--data-file", requests, "--disable-template-functions", "--disable-template-data"]
    command += ["--concurrency", args.clients, "--duration", f"{args.seconds}s"]
    command += ["--duration-stop", "wait", "--format", "json", address]
    printed = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    found = json.loads(printed.stdout)
    slow = {x["percentage"]: x["latency"] / 1e9 for x in found["latencyDistribution"]}
    return {
        "rate": found["rps"],
        "p99": slow[99],
        "failed": {name: n for name, n in found["statusCodeDistribution"].items() if name != "OK"},
    }


if __name__ == "__main__":
    main()
