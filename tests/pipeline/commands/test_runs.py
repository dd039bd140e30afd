from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.commands.runs import find_run_folders
from pairloom.pipeline.run_folder import RunFolder


def test_no_runs_yet_is_said_with_what_to_do(pairloom):
    code, out, _ = pairloom("runs")
    assert code == 0
    assert "No runs under runs yet" in out
    assert "pairloom run RECIPE" in out


def test_only_folders_with_a_database_count(tmp_path):
    for name in ("with", "without"):
        RunFolder.of(tmp_path, name).make()
    with records.open_store(RunFolder.of(tmp_path, "with")):
        pass
    assert [folder.name for folder in find_run_folders(str(tmp_path))] == ["with"]
    assert find_run_folders(str(tmp_path), "without") == []
    assert find_run_folders(str(tmp_path / "missing")) == []


def test_an_empty_database_gives_an_empty_table(pairloom, tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "words")
    folder.make()
    with records.open_store(folder):
        pass
    code, out, err = pairloom("runs")
    assert (code, err) == (0, "")
    assert out.split() == ["recipe", "started", "took", "state", "scores", "blessed", "pushed"]


def test_a_run_of_another_runner_has_its_row(pairloom, tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "words")
    folder.make()
    with records.open_store(folder) as store:
        kind = store.put_context_type(mlmd.ContextType(name="pipeline_run"))
        run = mlmd.Context(type_id=kind, name="2024-05-06T07:08:09.101112")
        execution = mlmd.Execution(
            type_id=store.put_execution_type(mlmd.ExecutionType(name="Trainer")),
            last_known_state=mlmd.Execution.FAILED,
        )
        store.put_execution(execution, [], [run])
    code, out, err = pairloom("runs")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("words") and "failed" in out
