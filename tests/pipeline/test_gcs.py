"""A recipe whose data, artifacts, checkpoints, versions and report lie at gs://, in a real API."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

import gcs_server

from pairloom.serving import Client

pytestmark = [
    pytest.mark.minutes,
    pytest.mark.skipif(
        not gcs_server.PROGRAM.exists(), reason="there is no fake-gcs-server: make load-tools"
    ),
]

PAIRLOOM = str(Path(sys.executable).with_name("pairloom"))
RECIPE = """
name: words
data:
  {format: tsv, folder: 'gs://pairs/data', train: 'pairs-{DATE}.tsv', split: {eval: 0.1, test: 0.1}}
vocabularies: {source: {method: characters, size: 300}, target: {method: characters, size: 300}}
model:
  encoder: {type: tokens, units: 16, embedding_units: 8}
  decoder: {type: recurrent, units: 16, embedding_units: 8}
training: {epochs: 1}
evaluation: {thresholds: {}, compare: null}
places: {root: gs://pairs/root}
"""
LONG = 1800


@pytest.fixture(scope="module")
def gcs(tmp_path_factory):
    server = gcs_server.GcsServer(tmp_path_factory.mktemp("gcs") / "server")
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdef", k=draw.randint(2, 7))) for _ in range(600)]
    pairs = "".join(f"{word}\t{word[::-1]}\n" for word in words)
    server.put(f"data/pairs-{date.today()}.tsv", pairs.encode())
    yield server
    server.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    (folder / "words.yaml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def pairloom(gcs, folder):
    """Runs a command, and gives what it wrote to stdout."""

    def pairloom(*arguments):
        ended = subprocess.run(
            [PAIRLOOM, *arguments],
            cwd=folder,
            env=gcs.environment,
            capture_output=True,
            text=True,
            timeout=LONG,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    return pairloom


@pytest.fixture(scope="module")
def finished(pairloom):
    """A whole run, from data to a pushed version."""
    return pairloom("run", "words.yaml")


def versions(gcs, base):
    """The files of each version, those of none left out."""
    found: dict[str, list[str]] = {}
    for name in gcs.names(f"{base}/"):
        version, _, file = name.removeprefix(f"{base}/").partition("/")
        if version.isdigit():
            found.setdefault(version, []).append(file)
    return found


def test_a_run_leaves_all_at_the_url_but_logs_lock_note_and_metadata(gcs, folder, finished):
    assert "pushed    gs://pairs/root/words/serving/words/" in finished
    here = {path.name for path in (folder / "runs" / "words").iterdir()}
    assert here == {".lock", "logs", "metadata.sqlite", "places.json"}
    assert not (folder / "gs:").exists()
    [files] = versions(gcs, "root/words/serving/words").values()
    assert "saved_model.pb" in files and "assets.extra/pushed" in files
    assert b"<html" in gcs.get("root/words/report/index.html")[:200]
    checkpoints = gcs.names("root/words/checkpoints/")
    assert any(name.endswith("/last/checkpoint") for name in checkpoints)
    assert any("/tensorboard/events" in name for name in checkpoints)


def test_runs_tells_of_it(pairloom, finished):
    [run] = json.loads(pairloom("runs", "words", "--json"))
    assert run["state"] == "done" and run["scores"] and run["data"]["train"] > 400
    assert run["report"].startswith("gs://pairs/root/words/tfx/Report/report/")
    assert "gs://pairs/root/words/report/index.html" in pairloom("runs", "words").replace("\n", "")


def test_node_by_node_the_cache_gives_all_and_a_killed_push_leaves_nothing_half(
    gcs, folder, pairloom, finished
):
    elsewhere = "places.push=gs://pairs/elsewhere/words"
    pairloom("compile", "words.yaml", "--set", elsewhere, "-o", "words.json")
    compiled = json.loads((folder / "words.json").read_text())
    nodes = [node["pipeline_node"]["node_info"]["id"] for node in compiled["ir"]["nodes"]]
    call = [PAIRLOOM, "node", "words.json", "--run-id", "second"]
    for node in nodes[: nodes.index("Pusher")]:
        told = json.loads(pairloom(*call[1:], node))
        assert told["state"] == ("done" if node == "LastBlessedModel" else "cached"), told

    gcs.waiting.clear()
    gcs.held = "saved_model.pb"
    pushing = subprocess.Popen([*call, "Pusher"], cwd=folder, env=gcs.environment)
    try:
        assert gcs.waiting.wait(LONG), "no model came"
        pushing.send_signal(signal.SIGKILL)
        pushing.wait()
    finally:
        gcs.stop_holding()
    [half] = versions(gcs, "elsewhere/words").values()
    assert "saved_model.pb" not in half and "assets.extra/pushed" in half

    assert json.loads(pairloom(*call[1:], "Pusher"))["state"] == "done"
    [whole] = versions(gcs, "elsewhere/words").values()
    assert {"saved_model.pb", *half} == set(whole)
    assert gcs.names("elsewhere/words/.pushing/") == []
    # Of the attempt that was killed nothing is left among the artifacts.
    attempts = {name.split("/")[5] for name in gcs.names("root/words/tfx/Pusher/pushed_model/")}
    assert len(attempts) == 2, "the first run's, and the second's last attempt"


def test_a_pushed_model_that_is_copied_down_answers(gcs, folder, finished):
    base = "root/words/serving/words"
    for version, files in versions(gcs, base).items():
        for file in files:
            place = folder / "copied" / version / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(gcs.get(f"{base}/{version}/{file}"))
    path = folder / "socket"
    flags = ["--model_name=words", "--port=0", "--rest_api_port=0", f"--grpc_socket_path={path}"]
    server = subprocess.Popen(
        [PAIRLOOM, "serve", f"--model_base_path={folder / 'copied'}", *flags],
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    try:
        until = time.monotonic() + LONG
        while True:
            try:
                with Client(f"unix:{path}", model="words") as client:
                    [answer] = client.predict(["abc"])
                break
            except Exception:
                assert server.poll() is None and time.monotonic() < until
                time.sleep(1)
        assert answer.score <= 0
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def test_a_bucket_that_is_not_there_is_named(gcs, folder):
    ended = subprocess.run(
        [PAIRLOOM, "run", "words.yaml", "--runs-dir", "none", "--set", "places.root=gs://none/x"],
        cwd=folder,
        env=gcs.environment,
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert ended.returncode == 1
    assert "PairExamples failed" in ended.stderr and "none" in ended.stderr
