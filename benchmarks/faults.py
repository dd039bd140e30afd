"""Swaps of versions under load, and a kill -9 in the middle of it.

    .venv/bin/python benchmarks/faults.py runs/NAME/serving/NAME sentences.txt

32 clients ask sentences of mixed lengths while ten versions are pushed, one of them corrupt. Every
answer is compared with what the SavedModel answers alone; the server's memory is read every second.
Then the server is killed in mid-load and started again.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from pairloom.serving.client import Client, ClientError
from pairloom.serving.server.saved_model import LoadedModel

CLIENTS = 32
VERSIONS = 10
CORRUPT = 6


def main() -> None:
    """Prints what was found; fails if a request failed or an answer was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("base_path", type=Path, help="a model's folder of versions")
    parser.add_argument("sentences", type=Path, help="a text file, one input a line")
    parser.add_argument("--seconds", type=float, default=120)
    args = parser.parse_args()
    newest = max(
        (p for p in args.base_path.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)
    )
    sentences = [line for line in args.sentences.read_text("utf-8").splitlines() if line][:300]
    random.Random(0).shuffle(sentences)
    expected = offline(newest, sentences)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "m"
        shutil.copytree(newest, base / "1")
        failed = swaps(base, newest, sentences, expected, args.seconds)
        restart(base, sentences)
    sys.exit(1 if failed else 0)


def offline(folder: Path, sentences: list[str]) -> dict[str, str]:
    """Each sentence's answer, asked alone."""
    model = LoadedModel(folder)
    (name,) = model.inputs("serving_default")
    answers = {}
    for text in sentences:
        inputs = {name: np.array([text.encode()], object)}
        answers[text] = model.run("serving_default", inputs)["target"][0].decode()
    model.close()
    return answers


def start(base: Path) -> tuple[subprocess.Popen, str]:
    """The server with batching, and its address."""
    command = [str(Path(sys.executable).with_name("pairloom")), "serve", "--port=0"]
    command += [f"--model_base_path={base}", "--model_name=m", "--rest_api_port=0"]
    command += ["--enable_batching"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return process, line.split("grpc ")[1].split(",")[0].strip()


def swaps(base: Path, newest: Path, sentences, expected, seconds: float) -> bool:
    """Clients ask while versions come and go."""
    process, address = start(base)
    counts: Counter[str] = Counter()
    stop = threading.Event()

    def ask(number: int) -> None:
        position = number
        with Client(address, "m") as client:
            while not stop.is_set():
                text = sentences[position % len(sentences)]
                try:
                    right = client.predict(text)[0].text == expected[text]
                    counts["right" if right else "wrong"] += 1
                except ClientError as error:
                    counts[f"failed: {error}"] += 1
                position += CLIENTS

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    memory = []
    started = time.monotonic()
    pushed = 1
    with Client(address, "m") as client:
        while time.monotonic() - started < seconds or pushed < VERSIONS:
            time.sleep(1)
            memory.append(megabytes(process.pid))
            # The next one comes when this one serves or has failed.
            if pushed < VERSIONS and settled(client, pushed):
                pushed += 1
                push(base, newest, pushed)
        states = {row.version: row.error or row.state for row in client.status()}
    stop.set()
    for thread in threads:
        thread.join(60)
    process.terminate()
    process.wait(60)
    last = memory[-60:]
    print(f"{CLIENTS} clients, {seconds:.0f} s, {pushed} versions, version {CORRUPT} corrupt")
    print(f"  answers: {dict(counts)}")
    print(f"  states at the end: {states}")
    print(
        f"  memory over the last {len(last)} s: {last[0]:.0f} MB at first, {last[-1]:.0f} MB at "
        f"last, between {min(last):.0f} and {max(last):.0f} MB",
        flush=True,
    )
    return set(counts) != {"right"}


def settled(client: Client, version: int) -> bool:
    """Whether a version serves, or has failed to."""
    return any(
        row.version == version and (row.state == "AVAILABLE" or row.error)
        for row in client.status()
    )


def push(base: Path, newest: Path, version: int) -> None:
    """Copies a version there as a Pusher does: whole, or a corrupt one cut short."""
    hidden = base.parent / f"tmp-{version}"
    shutil.copytree(newest, hidden)
    if version == CORRUPT:
        graph = hidden / "saved_model.pb"
        graph.write_bytes(graph.read_bytes()[:1000])
    hidden.rename(base / str(version))


def restart(base: Path, sentences: list[str]) -> None:
    """Kills the server in mid-load; how long until a new one answers."""
    process, address = start(base)
    stop = threading.Event()

    def ask() -> None:
        with Client(address, "m", timeout=5) as client:
            while not stop.is_set():
                try:
                    client.predict(sentences[0])
                except ClientError:
                    return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stop.set()
    for thread in threads:
        thread.join()
    found = []
    for _ in range(3):
        started = time.monotonic()
        process, address = start(base)
        with Client(address, "m") as client:
            client.predict(sentences[0])
        found.append(time.monotonic() - started)
        process.send_signal(signal.SIGKILL)
        process.wait()
    shown = ", ".join(f"{seconds:.1f}" for seconds in found)
    print(f"killed in mid-load; a new server's first answer came after {shown} s")


def megabytes(pid: int) -> float:
    """The memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
