"""Swaps of versions under load, and a kill -9 in the middle of it.

    .venv/bin/python benchmarks/faults.py runs/NAME/serving/NAME sentences.txt

32 clients ask sentences of mixed lengths while ten versions are pushed, evenly over the whole time,
one of them corrupt. The versions answer alike, but each adds its number to its scores, so that an
answer tells which version gave it. Every answer is compared with what the SavedModel answers alone,
and must come from no older version than the one that served when it was asked for; the server's
memory is read every second, and must not grow over the swaps of the last minute. Then the server is
killed in mid-load and started again. Ends with 1 if anything was not as it should be.
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import saved_model_pb2

from pairloom.serving.answers import VersionStatus
from pairloom.serving.client import Answer, Client, ClientError
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.versions import versions_on_disk

CLIENTS = 32
VERSIONS = 10
CORRUPT = 6
# What a version's number adds to its scores: more than they differ by, and still a float's.
STEP = 1000.0
# The memory in the last quarter of the last minute, at most so many times that in its first: of a
# server of 1 GB, with four swaps between them, a leak of 15 MB a swap is seen.
GROWTH = 1.05
RESTART_SECONDS = 8.0


class Findings:
    """What clients saw. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def count(self, what: str) -> None:
        """Notes one request's ending."""
        with self._lock:
            self.counts[what] += 1

    def thread(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        """A started thread; one that dies is counted too."""

        def run() -> None:
            try:
                work(*arguments)
            except Exception as error:
                self.count(f"a client died: {error!r}")

        thread = threading.Thread(target=run)
        thread.start()
        return thread


def main() -> None:
    """Prints what was found; ends with 1 if anything was not as it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base_path", type=Path, help="a model's folder of versions")
    parser.add_argument("sentences", type=Path, help="a text file, one input a line")
    parser.add_argument("--seconds", type=float, default=120)
    args = parser.parse_args()
    newest = next(iter(versions_on_disk(args.base_path).values()))
    sentences = [line for line in args.sentences.read_text("utf-8").splitlines() if line][:300]
    random.Random(0).shuffle(sentences)
    expected = offline(newest, sentences)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "m"
        base.mkdir()
        push(base, newest, 1)
        problems = swaps(base, newest, sentences, expected, args.seconds)
        problems += restart(base, sentences, expected)
    for problem in problems:
        print(f"WRONG: {problem}")
    sys.exit(1 if problems else 0)


def offline(folder: Path, sentences: list[str]) -> dict[str, Answer]:
    """Each sentence's answer, asked alone."""
    model = LoadedModel(folder)
    (name,) = model.inputs("serving_default")
    answers = {}
    for text in sentences:
        inputs = {name: np.array([text.encode()], object)}
        outputs = model.run("serving_default", inputs)
        answers[text] = Answer(outputs["target"][0].decode(), float(outputs["score"][0]))
    model.close()
    return answers


def version_of(answer: Answer, expected: Answer) -> int:
    """The version that gave an answer; 0 if it is not the expected one's."""
    version = round((answer.score - expected.score) / STEP)
    same = abs(answer.score - expected.score - STEP * version) < 0.1
    return version if same and answer.text == expected.text else 0


@contextmanager
def serving(base: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    """The server with batching, and its address; killed in the end."""
    command = [str(Path(sys.executable).with_name("pairloom")), "serve", "--port=0"]
    command += [f"--model_base_path={base}", "--model_name=m", "--rest_api_port=0"]
    command += ["--enable_batching"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield process, line.split("grpc ")[1].split(",")[0].strip()
    finally:
        process.kill()
        process.wait()


def swaps(base: Path, newest: Path, sentences, expected, seconds: float) -> list[str]:
    """Clients ask while versions come and go; gives what was not as it should be."""
    findings = Findings()
    stop = threading.Event()
    # The newest version that is known to serve, and the newest one that is there.
    serves = pushed = 1

    def ask(number: int) -> None:
        position = number
        with Client(address, "m") as client:
            while not stop.is_set():
                text = sentences[position % len(sentences)]
                oldest = serves
                try:
                    version = version_of(client.predict(text)[0], expected[text])
                except ClientError as error:
                    findings.count(f"failed: {error}")
                else:
                    right = oldest <= version <= pushed and version != CORRUPT
                    findings.count("right" if right else f"wrong, or of version {version}")
                position += CLIENTS

    with serving(base) as (process, address):
        threads = [findings.thread(ask, number) for number in range(CLIENTS)]
        memory = []
        started = time.monotonic()
        try:
            with Client(address, "m") as client:
                while time.monotonic() - started < seconds or pushed < VERSIONS or not memory:
                    time.sleep(1)
                    memory.append(megabytes(process.pid))
                    status = client.status()
                    serves = max(serves, *(r.version for r in status if r.state == "AVAILABLE"))
                    # One at a time: when the one before serves or has failed.
                    elapsed = time.monotonic() - started
                    if pushed < versions_due(elapsed, seconds) and settled(status, pushed):
                        pushed += 1
                        push(base, newest, pushed)
                while not settled(status, pushed):
                    time.sleep(1)
                    status = client.status()
        finally:
            stop.set()
            for thread in threads:
                thread.join(60)
        process.terminate()
        ended = process.wait(60)
    last = memory[-60:]
    before, after = quarters(last)
    states = {row.version: row.error or row.state for row in status}
    print(f"{CLIENTS} clients, {seconds:.0f} s, {pushed} versions, version {CORRUPT} corrupt")
    print(f"  answers: {dict(findings.counts)}")
    print(f"  states at the end: {states}")
    print(
        f"  memory over the last {len(last)} s: {before:.0f} MB at first, {after:.0f} MB at last "
        f"(medians of a quarter each), between {min(last):.0f} and {max(last):.0f} MB",
        flush=True,
    )
    problems = [f"{what} ({count})" for what, count in findings.counts.items() if what != "right"]
    if not findings.counts["right"]:
        problems.append("no answer was right")
    if any(thread.is_alive() for thread in threads):
        problems.append("a client never came back")
    if ended != 0:
        problems.append(f"the server ended with {ended}")
    if after > GROWTH * before:
        problems.append(f"the memory grew from {before:.0f} to {after:.0f} MB")
    return problems + wrong_states(status)


def versions_due(elapsed: float, seconds: float) -> int:
    """How many versions should be there by then: evenly over the whole time."""
    return min(VERSIONS, 1 + int(elapsed * VERSIONS / seconds))


def quarters(memory: list[float]) -> tuple[float, float]:
    """The medians of the first and of the last quarter.

    Medians, because while versions are swapped there are two of them for a few seconds.
    """
    count = max(1, len(memory) // 4)
    return statistics.median(memory[:count]), statistics.median(memory[-count:])


def wrong_states(status: list[VersionStatus]) -> list[str]:
    """What is wrong at the end, when the last version serves and the corrupt one has failed."""
    rows = {row.version: row for row in status}
    problems = []
    if VERSIONS not in rows or rows[VERSIONS].state != "AVAILABLE":
        problems.append(f"version {VERSIONS} does not serve")
    if CORRUPT not in rows or rows[CORRUPT].state == "AVAILABLE" or not rows[CORRUPT].error:
        problems.append(f"version {CORRUPT}, which is corrupt, is not told to have failed")
    return problems


def settled(status: list[VersionStatus], version: int) -> bool:
    """Whether a version serves, or has failed to."""
    return any(row.version == version and (row.state == "AVAILABLE" or row.error) for row in status)


def push(base: Path, newest: Path, version: int) -> None:
    """Copies a version there as a Pusher does: whole, or a corrupt one cut short."""
    hidden = base.parent / f"tmp-{version}"
    shutil.copytree(newest, hidden)
    add_number(hidden, version)
    if version == CORRUPT:
        graph = hidden / "saved_model.pb"
        graph.write_bytes(graph.read_bytes()[:1000])
    hidden.rename(base / str(version))


def add_number(folder: Path, version: int) -> None:
    """Adds `STEP * version` to a SavedModel's scores."""
    file = folder / "saved_model.pb"
    saved = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    for graph in saved.meta_graphs:
        score = graph.signature_def["serving_default"].outputs["score"]
        number = graph.graph_def.node.add(name="version_number", op="Const")
        number.attr["dtype"].type = types_pb2.DT_FLOAT
        number.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(STEP * version, tf.float32))
        numbered = graph.graph_def.node.add(
            name="numbered_score", op="AddV2", input=[score.name, number.name]
        )
        numbered.attr["T"].type = types_pb2.DT_FLOAT
        score.name = f"{numbered.name}:0"
    file.write_bytes(saved.SerializeToString())


def restart(base: Path, sentences: list[str], expected: dict[str, Answer]) -> list[str]:
    """Kills the server in mid-load; what is wrong with how a new one answers."""
    findings = Findings()
    stop = threading.Event()

    def ask() -> None:
        with Client(address, "m", timeout=5) as client:
            while not stop.is_set():
                try:
                    client.predict(sentences[0])
                except ClientError:
                    return

    with serving(base) as (process, address):
        threads = [findings.thread(ask) for _ in range(8)]
        time.sleep(2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        stop.set()
        for thread in threads:
            thread.join()
    problems = list(findings.counts)
    found = []
    for _ in range(3):
        started = time.monotonic()
        with serving(base) as (_, address), Client(address, "m") as client:
            (answer,) = client.predict(sentences[0])
            found.append(time.monotonic() - started)
        version = version_of(answer, expected[sentences[0]])
        if version != VERSIONS:
            problems.append(f"after a restart an answer is wrong, or of version {version}")
    shown = ", ".join(f"{seconds:.1f}" for seconds in found)
    print(f"killed in mid-load; a new server's first answer came after {shown} s")
    if max(found) > RESTART_SECONDS:
        problems.append(f"a new server's first answer took over {RESTART_SECONDS:.0f} s")
    return problems


def megabytes(pid: int) -> float:
    """The memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
