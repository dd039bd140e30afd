"""Nodes of a compiled pipeline, each run in a process of its own, as a scheduler runs them."""

import argparse
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("tfx")

from tfx.types import standard_artifacts

from pairloom.pipeline import runner
from pairloom.pipeline.commands import node as command
from pairloom.pipeline.compiled import (
    compile_pipeline,
    hold_to,
    read_compiled,
    write_compiled,
)
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.records import list_runs
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "tiny")
    folder.make()
    return folder


@pytest.fixture
def compiled(tmp_path, folder, monkeypatch):
    """The file of the tiny pipeline."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import tiny_nodes

    recipe = tmp_path / "tiny.yaml"
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    recipe.write_text("name: tiny\ndata: {format: tsv, train: pairs.tsv}\n")
    file = tmp_path / "tiny.pipeline.json"
    built = tiny_nodes.build(load_recipe(str(recipe)), folder.places)
    write_compiled(compile_pipeline(built, folder.places.metadata), file)
    return file


@pytest.fixture
def start(compiled):
    def start(node, run_id="run-1"):
        command = [sys.executable, "-m", "pairloom.pipeline.cli", "node", str(compiled), node]
        return subprocess.Popen(
            [*command, "--run-id", run_id],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        )

    return start


def ended(process: subprocess.Popen) -> tuple[int, dict, str]:
    out, err = process.communicate(timeout=180)
    [line] = out.splitlines()
    return process.returncode, json.loads(line), err


def wait_for(process: subprocess.Popen, file: Path) -> None:
    while not file.exists():
        assert process.poll() is None
        time.sleep(0.1)


def outputs(folder: RunFolder) -> list[str]:
    return sorted(path.name for path in Path(folder.pipeline_root).glob("Second/doubled/*/*"))


@pytest.mark.slow
def test_nodes_of_one_run_find_each_other_and_those_of_the_next_the_cache(start, folder):
    code, told, err = ended(start("First"))
    assert (code, told["state"], told["node"], told["run"]) == (0, "done", "First", "run-1")
    [made] = told["outputs"]["made"]
    assert Path(made, "number").read_text() == "7"
    assert "Traceback" not in err
    assert ended(start("Second"))[1]["state"] == "done"
    again = ended(start("Second"))[1]
    assert again["state"] == "done", "a node that has ended is left as it is"
    assert outputs(folder) == ["half", "number"]
    for node in ("First", "Second"):
        assert ended(start(node, "run-2"))[1]["state"] == "cached"


@pytest.mark.slow
def test_what_was_deleted_is_told_and_the_next_run_makes_it_again(start, folder):
    ended(start("First"))
    shutil.rmtree(Path(folder.pipeline_root) / "First" / "made")
    for node in ("First", "Second"):
        code, told, _ = ended(start(node))
        assert code == 1 and "Expected what First made in this run at" in told["reason"]
    for node in ("First", "Second"):
        assert ended(start(node, "run-2"))[1]["state"] == "done"


@pytest.mark.slow
def test_a_node_without_its_inputs_and_one_that_fails_say_why(start, folder):
    code, told, err = ended(start("Second"))
    assert (code, told["state"]) == (1, "failed")
    assert told["reason"] == "First must end well before it in the run run-1"
    assert told["reason"] in err
    ended(start("First"))
    (folder.path / "fail").touch()
    code, told, err = ended(start("Second"))
    assert (code, told["state"]) == (1, "failed")
    assert told["reason"] == "the number is not to be doubled"
    (folder.path / "fail").unlink()
    assert ended(start("Second"))[1]["state"] == "done", "its own retry"
    assert outputs(folder) == ["half", "number"]


@pytest.mark.slow
def test_a_killed_node_is_run_again_by_its_own_retry_and_by_nobody_elses(start, folder):
    ended(start("First"))
    (folder.path / "wait").touch()
    killed, waiting = start("Second"), folder.path / "waiting"
    wait_for(killed, waiting)
    code, told, _ = ended(start("Second"))
    assert (code, told["state"]) == (1, "failed")
    assert f"at work in the run run-1 already: process {killed.pid} on " in told["reason"]
    assert [r.state for r in list_runs(folder)] == ["running"]
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (folder.path / "wait").unlink()
    for node in ("First", "Second"):
        ended(start(node, "another-run"))
    states = {record.run_id: record.state for record in list_runs(folder)}
    assert outputs(folder).count("half") == 2, "what the killed one wrote is not another's to take"
    assert states["run-1"] != "failed"
    code, told, _ = ended(start("Second"))
    assert (code, told["state"]) in ((0, "done"), (0, "cached"))
    assert outputs(folder).count("number") == outputs(folder).count("half")


def in_another_process(file: Path) -> str:
    """The digest that another process finds."""
    code = (
        "from pathlib import Path; from pairloom.pipeline.compiled import read_compiled; "
        f"print(read_compiled(Path({str(file)!r})).digest)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.split()[-1]


@pytest.mark.slow
def test_another_database_does_not_write_over_what_one_knows(start, folder, monkeypatch):
    assert ended(start("First"))[1]["state"] == "done"
    made = sorted(Path(folder.pipeline_root).glob("First/**/*"))
    monkeypatch.setenv("PAIRLOOM_METADATA", f"sqlite://{folder.path}/another.sqlite")
    code, told, _ = ended(start("First", "run-2"))
    assert (code, told["state"]) == (1, "failed")
    assert told["reason"].startswith("Expected the metadata database that knows what lies in")
    assert made == sorted(Path(folder.pipeline_root).glob("First/**/*"))
    monkeypatch.delenv("PAIRLOOM_METADATA")
    assert ended(start("First", "run-2"))[1]["state"] == "cached"


def run_here(compiled: Path) -> int:
    """The node First, by the command's own function."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args([str(compiled), "First", "--run-id", "run-1"]))


def test_whatever_goes_wrong_there_is_one_line_that_says_so(compiled, monkeypatch, capfd):
    def lost(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(runner, "run_node", lambda ir, name: "done")
    monkeypatch.setattr(runner, "outputs_of", lost)
    assert run_here(compiled) == 1
    [line] = capfd.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["state"], told["reason"]) == ("failed", "OSError: the disk is gone")


def test_a_model_that_was_not_blessed_is_skipped_by_the_pusher(compiled, monkeypatch, capfd):
    kept = standard_artifacts.PushedModel()
    kept.set_int_custom_property("pushed", 0)
    monkeypatch.setattr(runner, "run_node", lambda ir, name: "done")
    monkeypatch.setattr(runner, "_outputs", lambda ir, name: {"pushed_model": [kept]})
    assert run_here(compiled) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["state"] == "skipped" and "not blessed" in told["reason"]


def test_a_compiled_pipeline_is_read_as_it_was_written(compiled):
    one = read_compiled(compiled)
    assert (one.name, one.nodes) == ("tiny", ["First", "Second"])
    assert one.upstream("Second") == ["First"]
    ir = one.for_run("r")
    assert ir.runtime_spec.pipeline_run_id.field_value.string_value == "r"
    assert read_compiled(compiled).digest == one.digest == in_another_process(compiled)


def test_a_run_keeps_to_the_pipeline_that_it_began_with(compiled):
    one = read_compiled(compiled)
    other = dataclasses.replace(one, digest="another")
    for _ in range(2):
        hold_to(one, "r")
    with pytest.raises(UserError, match="began with .* compiled anew since"):
        hold_to(other, "r")
    hold_to(other, "r2")


@pytest.mark.slow
def test_terminate_ends_a_node_with_the_code_of_its_signal_and_it_can_be_run_again(start, folder):
    ended(start("First"))
    (folder.path / "wait").touch()
    process, waiting = start("Second"), folder.path / "waiting"
    wait_for(process, waiting)
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + signal.SIGTERM, "")
    assert "Traceback" not in err
    (folder.path / "wait").unlink()
    assert ended(start("Second"))[1]["state"] == "done"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expected a file that `pairloom compile` wrote"),
        ('{"name": 1}', "Expected a file that `pairloom compile` wrote"),
        ('{"format": 9, "made_by": "7.0", "ir": {}}', "compiled by pairloom 7.0"),
        ('{"format": 2, "made_by": "7.0", "metadata": "", "ir": {}}', "compiled by pairloom 7.0"),
        ('{"format": 2, "made_by": "0.0.1", "metadata": "", "ir": {"new": 1}}', "cannot read it"),
    ],
)
def test_what_is_no_compiled_pipeline_of_this_version_is_refused(tmp_path, text, words):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UserError, match=words):
        read_compiled(file)
    with pytest.raises(UserError, match="which is not there"):
        read_compiled(tmp_path / "none.json")


@pytest.mark.slow
def test_a_node_that_is_none_is_told_with_the_nearest(start):
    code, told, err = ended(start("Secnd"))
    assert (code, told["state"]) == (1, "failed")
    assert "First, Second. Received: Secnd. Did you mean Second?" in told["reason"]
    assert told["reason"] in err
