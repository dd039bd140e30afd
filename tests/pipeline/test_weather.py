"""Full and read-only disks, clocks that jump back, runs side by side: what becomes of a run."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tfx")

from ml_metadata.proto import metadata_store_pb2 as mlmd
from tfx.dsl.components.common.resolver import Resolver
from tfx.orchestration.metadata import Metadata
from tfx.orchestration.portable import execution_publish_utils
from tfx.orchestration.portable.mlmd import context_lib
from tfx.types import Channel, standard_artifacts

from pairloom.pipeline import cli, execution, records, runner
from pairloom.pipeline.baseline import LatestOtherBlessedModel
from pairloom.pipeline.compiled import (
    FORMAT,
    compile_pipeline,
    hold_to,
    read_compiled,
    write_compiled,
)
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.part import keep_part
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.run_folder import RunFolder

sys.path.append(str(Path(__file__).parent))
import tiny_nodes

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(size, capture_output=True).returncode:
        pytest.skip("only root may mount a disk, and not everywhere")
    yield place
    # A test that failed may keep a file open.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def recipe(tmp_path):
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    file = tmp_path / "tiny.yaml"
    file.write_text("name: tiny\ndata: {format: tsv, train: pairs.tsv}\n")
    return load_recipe(str(file))


@pytest.fixture
def pipeline_in(recipe):
    def pipeline_in(place):
        folder = RunFolder.of(place, "tiny")
        folder.make()
        folder.settle()
        built = tiny_nodes.build(recipe, folder.places)
        return folder, compile_pipeline(built, folder.places.metadata)

    return pipeline_in


def run(compiled, run_id, *nodes):
    hold_to(compiled, run_id)
    return [runner.run_node(compiled.for_run(run_id), node) for node in nodes or compiled.nodes]


def node(file, *arguments):
    """Runs `pairloom node` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pairloom.pipeline.cli", "node", str(file), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )


def ended(process):
    """The exit code and the last line; stderr must be free of tracebacks."""
    out, err = process.communicate(timeout=180)
    assert "Traceback" not in err
    return process.returncode, json.loads(out.splitlines()[-1])


@contextlib.contextmanager
def filled(disk, left):
    """Leaves so many bytes free on a disk."""
    there = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * (there.f_bavail * there.f_bsize - left))
    yield
    ballast.unlink()


def test_a_disk_that_is_full_in_mid_artifact_is_told_and_half_of_it_is_not_kept(
    disk, pipeline_in, tmp_path, monkeypatch
):
    monkeypatch.setenv("PAIRLOOM_METADATA", f"sqlite://{tmp_path}/elsewhere.sqlite")
    folder, compiled = pipeline_in(disk)
    run(compiled, "nightly", "First")
    (folder.path / "large").touch()
    with filled(disk, left=400_000), pytest.raises(runner.NodeFailed) as failed:
        run(compiled, "nightly", "Second")
    assert failed.value.expected
    assert "Received: no space left on device. Make room" in failed.value.reason
    assert not list(Path(folder.pipeline_root).glob("Second/doubled/*"))
    assert [r.failed_node for r in records.list_runs(folder)] == ["Second"]
    assert run(compiled, "nightly", "Second") == ["done"]
    [made] = Path(folder.pipeline_root).glob("Second/doubled/*")
    assert sorted(file.name for file in made.iterdir()) == ["half", "number"]


@pytest.mark.parametrize(
    ("left", "words"), [(0, "No space left on device"), (8192, "database or disk is full")]
)
def test_a_disk_that_is_full_of_metadata_too_is_told_and_the_run_goes_on(
    disk, pipeline_in, left, words
):
    _, compiled = pipeline_in(disk)
    run(compiled, "nightly", "First")
    with filled(disk, left), pytest.raises(UserError, match=f"Received: .*{words}.*Make room"):
        run(compiled, "nightly", "Second")
    assert run(compiled, "nightly") == ["done", "done"]


@pytest.mark.parametrize("left", [0, 4096, 8192, 65536])
def test_a_local_run_on_a_full_disk_ends_with_one_message_and_goes_on(
    disk, pipeline_in, recipe, capfd, monkeypatch, left
):
    # As in a process of its own; pytest's goes another way than the file descriptor.
    monkeypatch.setattr(sys, "stderr", os.fdopen(2, "w", buffering=1, closefd=False))
    folder, compiled = pipeline_in(disk)
    run(compiled, "nightly", "First")
    (folder.path / "large").touch()
    capfd.readouterr()

    def local():
        execution.execute(recipe, disk, build=tiny_nodes.build)
        return 0

    with filled(disk, left):
        assert cli.guarded(local) == 1
    told = capfd.readouterr().err
    assert "Make room" in told and "unexpected" not in told and "Traceback" not in told, told
    assert len(told.splitlines()) <= 2, "the message, and where the log is"
    assert cli.guarded(local) == 0
    assert [path.name for path in Path(folder.pipeline_root).glob("Second/doubled/*/n*")] == [
        "number"
    ]


def test_a_root_that_is_read_only_is_told(disk, pipeline_in, recipe, tmp_path):
    folder, compiled = pipeline_in(disk)
    run(compiled, "nightly", "First")
    write_compiled(compiled, tmp_path / "tiny.json")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    words = "Read-only file system). Make room in it or let it be written"
    code, told = ended(node(tmp_path / "tiny.json", "Second", "--run-id", "nightly"))
    assert (code, told["state"]) == (1, "failed") and words in told["reason"]
    with pytest.raises(UserError) as refused:
        execution.execute(recipe, disk)
    assert words in str(refused.value)
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert run(compiled, "nightly") == ["done", "done"]
    assert [r.run_id for r in records.list_runs(folder)] == ["nightly"]


def test_runs_keep_their_order_though_the_clock_jumped_back(pipeline_in, tmp_path):
    folder, compiled = pipeline_in(tmp_path / "runs")
    first, second = "20261118-030000-000000", "20261117-030000-000000"
    run(compiled, first)
    made = [path.name for path in Path(folder.pipeline_root).glob("Second/doubled/*")]
    (folder.path / "large").touch()
    ir = compiled.for_run(second)
    for one in ir.nodes:
        one.pipeline_node.execution_options.caching_options.enable_cache = False
    runner.run_nodes(ir, lambda event: None)
    # As they would be had the first run been recorded by a clock that was an hour ahead.
    with contextlib.closing(sqlite3.connect(folder.path / "metadata.sqlite")) as database, database:
        for table in ("Context", "Execution", "Artifact"):
            database.execute(
                f"UPDATE {table} SET create_time_since_epoch = create_time_since_epoch + 3600000"
                + (f" WHERE name = '{first}'" if table == "Context" else " WHERE id <= 2")
            )
    assert [r.run_id for r in records.list_runs(folder)] == [first, second]
    part = compiled.for_run("third")
    keep_part(part, "Second", "")
    runner.run_nodes(part, lambda event: None)
    with records.open_store(folder) as store:
        [used] = store.get_artifacts_by_id(
            [
                event.artifact_id
                for event in store.get_events_by_execution_ids(
                    [max(execution.id for execution in store.get_executions())]
                )
                if event.type == mlmd.Event.INPUT
            ]
        )
    assert used.uri.endswith("First/made/3"), f"what the second run made, not the first: {made}"


RUNS = """
import sys
from pathlib import Path
from pairloom.pipeline import runner
from pairloom.pipeline.compiled import hold_to, read_compiled
compiled = read_compiled(Path(sys.argv[1]))
for run_id in sys.argv[2:]:
    hold_to(compiled, run_id)
    runner.run_nodes(compiled.for_run(run_id), lambda event: None)
"""


def test_runs_at_the_same_time_share_an_sqlite_file(pipeline_in, tmp_path):
    folder, compiled = pipeline_in(tmp_path / "runs")
    file = tmp_path / "tiny.json"
    write_compiled(compiled, file)
    groups = [[f"{name}-{number}" for number in range(8)] for name in ("one", "other")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    processes = [
        subprocess.Popen([sys.executable, "-c", RUNS, str(file), *group], env=environment)
        for group in groups
    ]
    assert [process.wait(300) for process in processes] == [0, 0]
    assert {r.run_id for r in records.list_runs(folder)} == {*groups[0], *groups[1]}
    with records.open_store(folder) as store:
        for run_id in (*groups[0], *groups[1]):
            made = records.outputs_of_run(store, "tiny", run_id, "Second")["doubled"]
            assert Path(made.uri, "number").read_text() == "14"


def test_a_resolver_that_was_killed_is_closed_by_its_retry(recipe, tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "tiny")
    folder.make()
    built = tiny_nodes.build(recipe, folder.places)
    resolver = Resolver(
        strategy_class=LatestOtherBlessedModel,
        model=Channel(type=standard_artifacts.Model),
        model_blessing=Channel(type=standard_artifacts.ModelBlessing),
    ).with_id("LastBlessedModel")
    built.components = [*built.components, resolver]
    ir = compile_pipeline(built, folder.places.metadata).for_run("nightly")
    [one] = [n.pipeline_node for n in ir.nodes if n.pipeline_node.node_info.id == resolver.id]
    # As far as TFX has come where it is killed between its two notes of a resolver.
    with Metadata(runner.connection_of(ir)) as handle:
        dead = execution_publish_utils.register_execution(
            handle, one.node_info.type, context_lib.prepare_contexts(handle, one.contexts)
        )
    assert records.list_runs(folder)[0].state == "interrupted"
    assert runner.run_node(ir, resolver.id) == "done"
    with records.open_store(folder) as store:
        states = {one.id: one.last_known_state for one in store.get_executions()}
    assert states.pop(dead.id) == mlmd.Execution.CANCELED
    assert list(states.values()) == [mlmd.Execution.COMPLETE]


@pytest.mark.parametrize(
    ("there", "instead", "words"),
    [
        (
            f'"format": {FORMAT}',
            '"format": 99',
            r"\(format 99\), and this is pairloom .*Compile it",
        ),
        ('"ir": {', '"ir": {"of_the_future": 1, ', "cannot read it: .*of_the_future.*Compile it"),
        ("Second_Executor", "OfTheFuture", "OfTheFuture, which Second was .*Compile the pipeline"),
    ],
)
def test_a_pipeline_of_a_newer_pairloom_is_refused_in_a_sentence(
    pipeline_in, tmp_path, there, instead, words
):
    _, compiled = pipeline_in(tmp_path / "runs")
    file = tmp_path / "tiny.json"
    write_compiled(compiled, file)
    text = file.read_text()
    assert there in text
    file.write_text(text.replace(there, instead))
    with contextlib.suppress(UserError):
        run(read_compiled(file), "nightly", "First")
    code, told = ended(node(file, "Second", "--run-id", "nightly"))
    assert (code, told["state"]) == (1, "failed")
    assert re.search(words, told["reason"], re.DOTALL), told
