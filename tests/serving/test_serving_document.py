"""The commands of docs/serving.md, on a server that listens where this runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pairloom.serving.server import ModelServer, ServerOptions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "serving.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
# What neither the tests' machines nor those of most readers have.
ELSEWHERE = ("kubectl ", "docker ")


def blocks(language, *words):
    return [body for name, body in BLOCKS if name == language and all(w in body for w in words)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, saved_model):
    """A reader's folder: a run with a pushed model."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(saved_model, folder / "runs/cmudict/serving/cmudict/1")
    return folder


@pytest.fixture(scope="module")
def local(folder):
    """A server of that model; puts its ports into a text."""
    options = ServerOptions(
        model_name="cmudict",
        model_base_path=str(folder / "runs/cmudict/serving/cmudict"),
        port=0,
        rest_api_port=0,
        free_rest_port=True,
    )
    with ModelServer(options) as server:
        ports = {"localhost:8500": server.port, "localhost:8501": server.rest_port}

        def localized(text):
            for place, port in ports.items():
                text = text.replace(place, f"127.0.0.1:{port}")
            return text

        yield localized


def run(script, folder, needs=()):
    path = os.pathsep.join(
        [str(Path(sys.executable).parent), str(ROOT / ".tools"), os.environ["PATH"]]
    )
    for program in needs:
        if not shutil.which(program, path=path):
            pytest.skip(f"{program} is not here; `make load-tools` builds it")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def answer(script, folder, needs=()):
    code, out, err = run(script, folder, needs)
    assert code == 0, f"{script}\n{out}\n{err}"
    return out


def python(block, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"__name__": "block"}
    exec(compile(block, "docs/serving.md", "exec"), names)
    return names


@pytest.fixture
def protoset(folder, monkeypatch):
    [block] = blocks("python", "FileDescriptorSet")
    python(block, folder, monkeypatch)
    return folder / "tfserving.protoset"


def test_every_shell_block_is_run_by_a_test_or_needs_a_cluster():
    # Those about photos in test_photos.py.
    tested = ("pairloom check-servable", "pairloom predict", "curl ", "grpcurl ", "ghz ")
    for block in blocks("sh"):
        assert block.startswith(ELSEWHERE) or any(word in block for word in tested), block


def test_a_pushed_model_is_checked_and_its_deployment_written(folder):
    [block] = blocks("sh", "pairloom deploy")
    commands = "\n".join(line.partition("  #")[0] for line in block.splitlines())
    python = f'pairloom() {{ {sys.executable} -m pairloom.pipeline.cli "$@"; }}\n'
    out = answer(python + commands, folder)
    assert "can load runs/cmudict/serving/cmudict/1" in out
    named = re.findall(r"deploy-cmudict/[\w./-]*", TEXT)
    assert len(named) >= 5
    for path in named:
        assert (folder / path).exists(), f"docs/serving.md names {path}"


def test_objects_are_named_as_they_are_written(folder):
    manifests = "".join(p.read_text() for p in (ROOT / "deploy/example").rglob("*.yaml"))
    for name in ("cmudict-loader", "cmudict-pods"):
        assert name in TEXT and f'name: "{name}"' in manifests
    for kind in ("deployment/cmudict", "service/cmudict"):
        assert kind in TEXT


def test_curl_is_answered(local, folder):
    [block] = blocks("sh", "curl -s", "tree")
    out = answer(local(block), folder, needs=["curl"])
    assert "TREE" in out and "attention" in out and "AVAILABLE" in out


def test_the_official_stubs_are_answered(local, folder, monkeypatch):
    [block] = blocks("python", "PredictionServiceStub")
    names = python(local(block), folder, monkeypatch)
    assert [text.decode() for text in names["answers"][0]] == ["1:TREE", "tree"]


@pytest.mark.slow
def test_grpcurl_is_answered_from_a_file_of_messages(local, folder, protoset):
    [block] = blocks("sh", "grpcurl ", "-protoset")
    out = answer(local(block), folder, needs=["grpcurl"])
    # base64 of `1:TREE`
    assert "MTpUUkVF" in out and '"state": "AVAILABLE"' in out


@pytest.mark.slow
def test_grpcurl_is_answered_by_reflection(local, folder):
    [block] = [block for block in blocks("sh", "grpcurl ") if "-protoset" not in block]
    code, out, err = run(local(block), folder, needs=["grpcurl"])
    assert code == 0, err
    assert "tensorflow.serving.PredictionService" in out and '"state": "AVAILABLE"' in out


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "reflection"])
def test_ghz_measures_and_every_request_is_answered(local, folder, protoset, way):
    [ask] = blocks("sh", "tree.json <<")
    answer(ask.partition("grpcurl")[0], folder)
    [block] = blocks("sh", "ghz ")
    if way == "reflection":
        block = block.replace("--protoset tfserving.protoset ", "")
    code, out, err = run(local(block), folder, needs=["ghz"])
    assert code == 0, err
    assert re.search(r"\[OK\]\s+400 responses", out), out
