"""The proof that a kind is one folder: two toys go from file to page, and nothing else knows them.

`toys/` holds a kind that is read and a kind that is written. Put on Python's path, they are kinds
like all others.
"""

import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("tfx")

TOYS = Path(__file__).parent / "toys"
CHROMIUM = shutil.which("chromium")
PAIRLOOM = str(Path(sys.executable).parent / "pairloom")
RECIPE = """
name: graded
data:
  format: tsv
  folder: {folder}
  train: melodies.tsv
  split: {{eval: 0.1, test: 0.1}}
fields:
  tune: {{kind: melody}}
  mark: {{kind: grade}}
output: mark
model:
  encoder: {{type: tokens, units: 16, embedding_units: 8}}
  decoder: {{type: classes, context: pooling, units: 16}}
training:
  epochs: 60
  batch_tokens: 512
  learning_rate: 0.01
  warmup_steps: 10
  average: 0
  evaluate_every: 100
"""


def pairloom(*arguments: str, folder: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(TOYS)}
    command = [PAIRLOOM, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with pairs and a recipe: a tune with no B is an A, with four or more an E."""
    folder = tmp_path_factory.mktemp("toys")
    chance = random.Random(1)
    rows = []
    for _ in range(600):
        tune = [chance.choice("CDEFGABBB") for _ in range(chance.randint(3, 9))]
        rows.append(f"{' '.join(tune)}\t{'ABCDE'[min(tune.count('B'), 4)]}")
    rows.append("C H D\tA")
    (folder / "melodies.tsv").write_text("\n".join(rows) + "\n")
    (folder / "my.yaml").write_text(RECIPE.format(folder=folder))
    return folder


@pytest.fixture(scope="module")
def run(folder) -> subprocess.CompletedProcess:
    return pairloom("run", "my.yaml", folder=folder)


def test_a_recipe_knows_them(folder):
    checked = pairloom("check", "my.yaml", folder=folder)
    assert checked.returncode == 0, checked.stderr
    assert "grade " in checked.stdout
    assert "must hold notes from C to B, received ['H']" in checked.stdout


def test_without_the_folder_they_are_no_kinds(folder):
    command = [PAIRLOOM, "check", "my.yaml"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert found.returncode != 0
    assert "label or numbers or text or texts" in found.stderr


@pytest.mark.slow
def test_they_train_and_are_pushed(run, folder):
    assert run.returncode == 0, run.stderr
    accuracy = float(re.search(r"^all +\d+ +([\d.]+)", run.stdout + run.stderr, re.M)[1])
    assert accuracy > 40, run.stdout
    assert list((folder / "runs/graded/serving/graded").iterdir())


@pytest.fixture(scope="module")
def server(run, folder) -> Iterator[tuple[str, str]]:
    """The addresses of gRPC and of the page."""
    assert run.returncode == 0, run.stderr
    ports = [_free_port(), _free_port()]
    process = subprocess.Popen(
        [PAIRLOOM, "serve", "graded", "--port", str(ports[0]), "--rest_api_port", str(ports[1])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TOYS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{ports[1]}/v1/models/graded")
        yield f"127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}/"
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_the_client_takes_and_gives_their_values(server, folder):
    code = (
        "from pairloom.serving import Client\n"
        f"with Client({server[0]!r}) as client:\n"
        "    [answer] = client.predict(tune='C D E')\n"
        "    [seen] = client.explain('B B B B B')\n"
        "tune = seen.fields['tune']\n"
        "print(answer.value, '|', tune.tokens, tune.attention.shape)\n"
    )
    asked = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(TOYS)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout == "grade A | ('B', 'B', 'B', 'B', 'B') (1, 5)\n"


@pytest.mark.slow
def test_the_terminal_draws_them(server, folder):
    asked = pairloom("predict", "--explain", "--address", server[0], "C D B", folder=folder)
    assert asked.returncode == 0, asked.stderr
    assert "melody C" in asked.stdout
    assert "grade " in asked.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_draws_them(server, tmp_path):
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-dev-shm-usage"]
    flags += [f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000", "--dump-dom"]
    page = subprocess.run(
        [CHROMIUM, *flags, f"{server[1]}#in.tune=C%20D%20B"],
        capture_output=True,
        text=True,
        timeout=90,
    ).stdout
    assert re.search(r'<strong class="grade">grade [A-E]</strong>', page), page[-3000:]
    assert re.search(r'<p class="melody">C \d+% · D \d+% · B \d+%</p>', page), page[-3000:]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait_for(url: str) -> None:
    until = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if b"AVAILABLE" in answer.read():
                    return
        except OSError:
            pass
        assert time.monotonic() < until, f"{url} does not answer"
        time.sleep(0.3)
