import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from random import Random

import pytest

import pairloom.models
from pairloom.models.encoder_decoder import DECODERS, ENCODERS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ASKS_A_SERVER = "Client("
# With the official stubs; tests/serving/test_serving_document.py asks a server with them.
USES_STUBS = "tensorflow_serving"


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of one language, in their order."""
    return [body for name, body in _FENCE.findall(path.read_text()) if name == language]


def shell_commands(path: Path) -> list[str]:
    """The commands of the shell blocks, a line each, without comments."""
    lines = "".join(blocks(path, "sh")).replace("\\\n", "").splitlines()
    return [command for line in lines if (command := line.partition("  #")[0].strip())]


PYTHON_BLOCKS = [
    pytest.param(block, id=f"{path.name}-{number}")
    for path in DOCUMENTS
    for number, block in enumerate(blocks(path, "python"))
    if ASKS_A_SERVER not in block and USES_STUBS not in block
]
WORDS = {
    "a": "ein",
    "the": "der",
    "small": "kleiner",
    "big": "grosser",
    "dog": "hund",
    "man": "mann",
    "runs": "rennt",
    "sleeps": "schlaeft",
}


@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_blocks_run(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


def test_documents_link_to_what_is_there():
    for path in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
            assert "://" in link or (path.parent / link).exists(), f"{path.name}: {link}"


def test_the_readme_s_make_targets_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    wanted = [c.split()[1] for c in shell_commands(README) if c.startswith("make ")]
    assert wanted and set(wanted) <= set(targets)


def test_what_recipes_can_train_is_told_as_it_is():
    text = (ROOT / "docs/recipes.md").read_text()
    told = text.partition("## What a recipe can train today")[2].partition("\n## ")[0]
    rows = [row.strip("|").split("|") for row in told.splitlines() if row.startswith("|")]
    tasks = {row[0].strip() for row in rows}
    assert {*(f"T{n}" for n in range(1, 8)), *(f"V{n}" for n in range(1, 5))} <= tasks
    assert {"D1", "A1", "A2"} <= tasks
    names = [re.findall(r"`([A-Z]\w+)`", row[-1]) for row in rows]
    only_layers = {getattr(pairloom.models, name) for found in names for name in found}
    # Parts that are also told of as some of a task, whose other part has no recipe.
    both = {
        pairloom.models.TokenEncoder,
        pairloom.models.RecurrentDecoder,
        pairloom.models.ClassHead,
    }
    by_recipe = {*ENCODERS.values(), *DECODERS.values()}
    assert only_layers & by_recipe <= both, "a recipe can say what is told to be layers only"
    parts = {getattr(pairloom.models, name) for name in pairloom.models.__all__ if _is_part(name)}
    assert parts <= only_layers | by_recipe | {pairloom.models.EncoderDecoder}
    assert "one kind of field" not in told


def _is_part(name):
    return name.endswith(("Encoder", "Decoder", "Head"))


@pytest.fixture(scope="module")
def own_data(tmp_path_factory):
    """A folder with two parallel files, as a reader of the README has them."""
    folder = tmp_path_factory.mktemp("own_data")
    random = Random(0)
    sentences = [random.choices(sorted(WORDS), k=random.randint(2, 5)) for _ in range(1000)]
    (folder / "train.en").write_text("".join(" ".join(s) + "\n" for s in sentences))
    (folder / "train.de").write_text(
        "".join(" ".join(WORDS[word] for word in s) + "\n" for s in sentences)
    )
    return folder


def run(command, folder):
    result = subprocess.run(
        command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def environment():
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def wait_for(port, process, seconds=90):
    started = time.time()
    while time.time() - started < seconds:
        assert process.poll() is None, "the server has ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.3)
    raise AssertionError(f"nothing listens on port {port}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def told_by_the_page(port, file):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/page/{file}", timeout=60) as answer:
        return json.load(answer)


def pushed_versions(folder):
    return [path.name for path in (folder / "runs/train-en-de/serving/train-en-de").iterdir()]


@pytest.fixture(scope="module")
def trained(own_data):
    """What the README's commands before `pairloom serve` print, and their folder."""
    commands = [c for c in shell_commands(README) if c.startswith("pairloom ")]
    assert [c.split()[1] for c in commands] == ["new", "run", "serve", "predict", "runs"]
    return own_data, [run(command, own_data) for command in commands[:2]], commands[2:]


@pytest.mark.slow
def test_the_readme_s_commands_lead_from_files_to_an_answer_over_grpc(trained):
    folder, outputs, (serve, predict, runs) = trained
    assert "blessed" in outputs[1].lower() and "pushed" in outputs[1].lower()
    # The same commands, on a port that is free wherever this runs.
    port, rest_port = free_port(), free_port()
    ports = f" --port {port} --rest_api_port {rest_port}"
    server = subprocess.Popen((serve + ports).split(), cwd=folder, env=environment())
    try:
        wait_for(port, server)
        predict += f" --address localhost:{port}"
        assert run(predict, folder).strip() == "ein kleiner hund"
        assert "ein kleiner hund" in run(f"{predict} --nbest", folder)
        assert "█" in run(f"{predict} --explain", folder)
        assert "train-en-de" in run(runs, folder)
        [version] = pushed_versions(folder)
        told = told_by_the_page(rest_port, "runs.json")["train-en-de"][version]
        assert told["scores"]["bleu"] > 0 and told["seconds"] > 0
        [served] = told_by_the_page(rest_port, "models.json")["models"][0]["versions"]
        assert served["description"]["inputs"][0]["kind"] == "text"
        (asks,) = (b for b in blocks(README, "python") if ASKS_A_SERVER in b)
        exec(compile(asks.replace("8500", str(port)), "README", "exec"), {})
        picture = f'pairloom predict "the man sleeps" --picture a.png --address localhost:{port}'
        assert "der mann schlaeft" in run(picture, folder) and (folder / "a.png").exists()
    finally:
        server.terminate()
        assert server.wait(60) == 0


@pytest.mark.slow
def test_a_finished_run_repeated_does_nothing_and_its_model_can_be_shown(trained):
    folder, _, _ = trained
    before = pushed_versions(folder)
    shown = run("pairloom demo my.yaml", folder)
    assert "Trainer: cached" in shown and "Evaluator: cached" in shown and "Pusher: cached" in shown
    assert shown.count(" → ") >= 3 and "over gRPC" in shown
    assert pushed_versions(folder) == before


@pytest.mark.slow
def test_a_model_that_is_not_blessed_is_not_pushed(trained):
    folder, _, _ = trained
    before = pushed_versions(folder)
    told = run("pairloom run my.yaml --set evaluation.thresholds.bleu.at_least=101", folder)
    assert "Trainer: cached" in told
    assert "not blessed" in told and "not pushed" in told
    assert pushed_versions(folder) == before


@pytest.mark.slow
def test_the_commands_of_scheduling_run(tmp_path):
    told = shell_commands(ROOT / "docs" / "scheduling.md")
    # What needs a cluster is run by tests/kubernetes.
    commands = [c for c in told if c.startswith("pairloom ") and c.split()[1] != "submit"]
    assert [command.split()[1] for command in commands] == ["compile", "node", "compile", "compile"]
    for command in commands:
        # The command beside this Python, and a slice of the words.
        words = [str(Path(sys.executable).with_name("pairloom")), *command.split()[1:]]
        more = ["--set", "data.options.limit=200"] if words[1] == "compile" else []
        ended = subprocess.run([*words, *more], cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        if words[1] == "node":
            assert json.loads(ended.stdout.splitlines()[-1])["state"] == "done"
    assert (tmp_path / "dags" / "cmudict.py").exists()
    assert (tmp_path / "cmudict.kubeflow.yaml").exists()


def test_the_commands_of_scheduling_that_need_a_cluster_name_what_is_there():
    told = shell_commands(ROOT / "docs" / "scheduling.md")
    files = [word for command in told for word in command.split() if word.startswith("deploy/")]
    assert len(files) >= 5 and all((ROOT / file).is_file() for file in files), files
    submits = [command.split()[1:] for command in told if command.startswith("pairloom submit")]
    assert submits and all(_parser().parse_args(words) for words in submits)


def _parser():
    from pairloom.pipeline.commands import submit

    parser = argparse.ArgumentParser()
    submit.add_arguments(parser.add_subparsers().add_parser("submit"))
    return parser
