"""Metadata in a real PostgreSQL, MariaDB or MySQL 8: shared, away for a while, and for good."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("tfx")

from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import connecting, records, runner
from pairloom.pipeline.compiled import compile_pipeline
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.run_folder import RunFolder

sys.path.append(str(Path(__file__).parent))
import mariadb_server
import postgres_server
import tiny_nodes

pytestmark = pytest.mark.slow
HERE = {
    "PostgreSQL": postgres_server.find_program("initdb"),
    "MariaDB": all(map(mariadb_server.find_program, mariadb_server.MariaDbServer.needed)),
    "MySQL": mariadb_server.is_mysql(),
}


@pytest.fixture(scope="module", params=HERE)
def running(request):
    if not HERE[request.param]:
        pytest.skip(f"there is no {request.param} here")
    kind = {
        "PostgreSQL": postgres_server.PostgresServer,
        "MariaDB": mariadb_server.MariaDbServer,
        "MySQL": mariadb_server.MySqlServer,
    }[request.param]
    with postgres_server.open_folder() as folder:
        made = kind(folder / "server")
        made.start()
        yield made
        made.stop()


@pytest.fixture
def server(running, monkeypatch):
    monkeypatch.setenv("PAIRLOOM_METADATA", running.url)
    return running


@pytest.mark.parametrize("text", [r'{"config": "{\"name\": 1}"}', r"C:\new", "\\", "it's", "é"])
def test_any_text_is_kept(server, text):
    config = connecting.connection_to(server.url)
    with runner.PatientMetadata(config) as handle:
        kind = handle.store.put_execution_type(mlmd.ExecutionType(name="kept"))
        kept = mlmd.Execution(type_id=kind, name=f"{text} {time.time()}")
        kept.custom_properties["text"].string_value = text
        [number] = handle.store.put_executions([kept])
    with runner.PatientMetadata(config) as handle:
        [found] = handle.store.get_executions_by_id([number])
    assert (found.name, found.custom_properties["text"].string_value) == (kept.name, text)


def test_what_is_asked_for_by_ids_comes_in_their_order(server):
    """TFX's cache puts artifacts beside the names of outputs, one by one."""
    with runner.PatientMetadata(connecting.connection_to(server.url)) as handle:
        store = handle.store
        kinds = [store.put_artifact_type(mlmd.ArtifactType(name=name)) for name in ("A", "B")]
        made = [mlmd.Artifact(type_id=kinds[n % 2], uri=f"/{n}") for n in range(4)]
        ids = store.put_artifacts(made)
        [first] = store.get_artifacts_by_id(ids[:1])
        first.state = mlmd.Artifact.LIVE
        store.put_artifacts([first])
        for asked in (ids, ids[::-1], [*ids, ids[0]]):
            assert [a.id for a in store.get_artifacts_by_id(asked)] == asked
        types = store.get_artifact_types_by_id([kinds[0], kinds[1], kinds[0]])
        assert [t.name for t in types] == ["A", "B", "A"]


def test_a_connection_that_was_lost_is_made_again(server):
    with runner.PatientMetadata(connecting.connection_to(server.url)) as handle:
        kind = handle.store.put_context_type(mlmd.ContextType(name="lost"))
        server.stop()
        server.start()
        name = f"{time.time()}"
        handle.store.put_contexts([mlmd.Context(type_id=kind, name=name)])
        assert [c.name for c in handle.store.get_contexts_by_type("lost")].count(name) == 1


@pytest.fixture
def pipeline_of(tmp_path):
    def pipeline_of(name):
        recipe = tmp_path / f"{name}.yaml"
        recipe.write_text(f"name: {name}\ndata: {{format: tsv, train: pairs.tsv}}\n")
        folder = RunFolder.of(tmp_path / "runs", name)
        folder.make()
        folder.settle()
        built = tiny_nodes.build(load_recipe(str(recipe)), folder.places)
        return folder, compile_pipeline(built, folder.places.metadata)

    return pipeline_of


def states(ir):
    seen = []
    runner.run_nodes(ir, lambda event: seen.append((event.node, event.state)))
    return [state for _, state in seen if state != "running"]


def test_two_pipelines_share_a_database_and_even_a_runs_id(server, pipeline_of):
    (one, first), (other, second) = pipeline_of("one"), pipeline_of("other")
    assert first.metadata == "$PAIRLOOM_METADATA", "no password is written down"
    assert "secret" not in (one.path / "places.json").read_text()
    for compiled in (first, second):
        assert states(compiled.for_run("today")) == ["done", "done"]
    assert states(first.for_run("tomorrow")) == ["cached", "cached"]
    assert [r.run_id for r in records.list_runs(one)] == ["today", "tomorrow"]
    assert [r.run_id for r in records.list_runs(other)] == ["today"]
    with records.open_store(other) as store:
        made = records.outputs_of_run(store, "other", "today", "Second")["doubled"]
        assert made.uri.startswith(str(other.path))
    assert not list(one.path.glob("*.sqlite"))
    # Another's files may be out of sight, and are not lost for that.
    made_by_one = list(Path(one.pipeline_root).glob("Second/doubled/*/number"))
    records.mend(other, "")
    assert states(first.for_run("third")) == ["cached", "cached"]
    assert made_by_one == list(Path(one.pipeline_root).glob("Second/doubled/*/number"))


def test_a_database_that_is_away_for_a_while_is_waited_for(server, pipeline_of):
    _, compiled = pipeline_of("patient")
    server.stop()
    back = threading.Timer(10, server.start)
    began = time.monotonic()
    back.start()
    try:
        assert states(compiled.for_run("a-run")) == ["done", "done"]
    finally:
        back.join()
    assert time.monotonic() - began >= 10


def test_one_that_is_away_for_good_is_told(server, pipeline_of, monkeypatch):
    _, compiled = pipeline_of("lost")
    monkeypatch.setattr(connecting, "PATIENCE", 2)
    server.stop()
    try:
        with pytest.raises(runner.NodeFailed) as failed:
            states(compiled.for_run("a-run"))
    finally:
        server.start()
    assert failed.value.expected and f":{server.port}/pairs to answer" in failed.value.reason
    assert "secret" not in failed.value.reason
    assert states(compiled.for_run("a-run")) == ["done", "done"], "the same run goes on"


def in_mid_work(folder, compiled, run_id):
    """Starts a run in a thread, up to the midst of its second node; gives what becomes of it."""
    (folder.path / "wait").touch()
    run = ThreadPoolExecutor(1).submit(states, compiled.for_run(run_id))
    while not (folder.path / "waiting").exists():
        assert not run.done(), run.result()
        time.sleep(0.05)
    return run


def test_a_node_whose_database_goes_in_mid_work_waits_for_it(server, pipeline_of):
    folder, compiled = pipeline_of("midst")
    run = in_mid_work(folder, compiled, "a-run")
    server.stop()
    try:
        (folder.path / "wait").unlink()
        time.sleep(10)
        assert not run.done(), "it has ended, and cannot say so"
    finally:
        server.start()
    assert run.result(120) == ["done", "done"]
    assert len(list(Path(folder.pipeline_root).glob("Second/doubled/*"))) == 1


def test_a_node_whose_database_goes_for_good_in_mid_work_is_done_by_its_retry(
    server, pipeline_of, monkeypatch
):
    folder, compiled = pipeline_of("gone")
    monkeypatch.setattr(connecting, "PATIENCE", 2)
    run = in_mid_work(folder, compiled, "a-run")
    server.stop()
    try:
        (folder.path / "wait").unlink()
        with pytest.raises(runner.NodeFailed) as failed:
            run.result(120)
    finally:
        server.start()
    assert failed.value.node == "Second"
    assert failed.value.expected and "same command again" in failed.value.reason
    assert states(compiled.for_run("a-run")) == ["done", "done"]
    assert len(list(Path(folder.pipeline_root).glob("Second/doubled/*"))) == 1
    with records.open_store(folder) as store:
        live = [a for a in store.get_artifacts() if a.uri.startswith(str(folder.pipeline_root))]
    assert len(live) == 2, "nothing is there twice"
