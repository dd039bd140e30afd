"""ML Metadata, read and mended: on real databases, written the way TFX writes them."""

import shutil
import time
from datetime import datetime
from pathlib import Path

import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.components.holding import held
from pairloom.components.pusher.versions import NOTE
from pairloom.pipeline import records


def test_ids_sort_by_time_and_tell_it(folder, writer):
    before = datetime.now()
    first, second = records.new_run_id(), records.new_run_id()
    after = datetime.now()
    assert first < second
    for run_id in (first, second):
        writer.execution(run_id, "Trainer", mlmd.Execution.COMPLETE)
    found = records.list_runs(folder)
    assert [record.run_id for record in found] == [first, second]
    assert before <= found[0].started < found[1].started <= after


def test_the_pipelines_name_before_an_id_is_no_part_of_it(folder, writer):
    run_id = records.new_run_id()
    writer.execution(f"words.{run_id}", "Trainer", mlmd.Execution.COMPLETE, model=({}, True))
    assert [record.run_id for record in records.list_runs(folder)] == [run_id]
    assert set(records.outputs_of_run(writer.store, "words", run_id, "Trainer")) == {"model"}


@pytest.mark.parametrize("run_id", ["2024-05-06T07:08:09.101112", "manual__1"])
def test_runs_of_other_runners_are_listed_by_when_they_were_recorded(folder, writer, run_id):
    """LocalDagRunner's id is an ISO time, with a dot; Airflow's and Kubeflow's are others."""
    earlier = records.new_run_id()
    writer.execution(earlier, "Trainer", mlmd.Execution.COMPLETE)
    writer.execution(run_id, "Trainer", mlmd.Execution.COMPLETE, model=({}, True))
    found = records.list_runs(folder)
    assert [record.run_id for record in found] == [earlier, run_id]
    assert abs((datetime.now() - found[1].started).total_seconds()) < 60
    assert set(records.outputs_of_run(writer.store, "words", run_id, "Trainer")) == {"model"}


def test_a_folder_without_a_database_has_no_runs(folder):
    assert records.list_runs(folder) == []
    assert not folder.has_metadata


def test_an_empty_database_has_no_runs(folder):
    with records.open_store(folder):
        pass
    assert records.list_runs(folder) == []


def test_a_finished_run_tells_its_blessing_and_version(folder, writer):
    run_id = records.new_run_id()
    writer.execution(run_id, "Trainer", mlmd.Execution.CACHED)
    writer.execution(run_id, "Evaluator", mlmd.Execution.COMPLETE, blessing=({"blessed": 1}, True))
    pushed = {"pushed": 1, "pushed_version": "17", "pushed_destination": ""}
    writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=(pushed, True))
    [record] = records.list_runs(folder)
    assert (record.run_id, record.state) == (run_id, "done")
    assert (record.blessed, record.pushed) == (True, "17")
    assert record.scores == {}, "there is no evaluation to read them from"


def test_an_unblessed_run_is_done_and_pushed_nothing(folder, writer):
    run_id = records.new_run_id()
    writer.execution(run_id, "Evaluator", mlmd.Execution.COMPLETE, blessing=({"blessed": 0}, True))
    writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=({"pushed": 0}, True))
    [record] = records.list_runs(folder)
    assert (record.state, record.blessed, record.pushed) == ("done", False, "")


def test_runs_come_oldest_first_with_their_state(folder, writer):
    ids = [records.new_run_id() for _ in range(3)]
    # As after a clock that jumped back.
    ids.reverse()
    writer.execution(ids[0], "Trainer", mlmd.Execution.FAILED)
    writer.execution(ids[1], "Trainer", mlmd.Execution.RUNNING)
    writer.execution(ids[2], "Trainer", mlmd.Execution.CANCELED)
    writer.execution(ids[0], "Pusher", mlmd.Execution.CANCELED)
    found = records.list_runs(folder)
    assert [record.run_id for record in found] == ids
    assert [record.state for record in found] == ["failed", "interrupted", "interrupted"]
    assert found[0].failed_node == "Trainer"


def test_a_nodes_last_attempt_counts(folder, writer):
    run_id = records.new_run_id()
    for state in (mlmd.Execution.RUNNING, mlmd.Execution.FAILED, mlmd.Execution.COMPLETE):
        writer.execution(run_id, "LastBlessedModel", state)
    assert records.list_runs(folder)[0].state == "interrupted", "nothing was pushed yet"
    writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=({"pushed": 0}, True))
    [record] = records.list_runs(folder)
    assert (record.state, record.failed_node) == ("done", "")


def test_an_open_execution_is_running_only_while_somebody_holds_the_folder(folder, writer):
    run_id = records.new_run_id()
    writer.execution(run_id, "Trainer", mlmd.Execution.RUNNING)
    assert records.list_runs(folder)[0].state == "interrupted"
    with held(records.lock_of(folder.pipeline_root, "another", "Trainer")):
        assert records.list_runs(folder)[0].state == "interrupted"
    with held(records.lock_of(folder.pipeline_root, run_id, "Trainer")):
        assert records.list_runs(folder)[0].state == "running"


def test_a_run_under_way_takes_until_now(folder, writer, monkeypatch):
    run_id, now = records.new_run_id(), time.time()
    writer.execution(run_id, "Trainer", mlmd.Execution.RUNNING)
    monkeypatch.setattr(records.time, "time", lambda: now + 100)
    assert records.list_runs(folder)[0].seconds < 50
    with held(records.lock_of(folder.pipeline_root, run_id, "Trainer")):
        assert records.list_runs(folder)[0].seconds == pytest.approx(100, abs=30)


def test_outputs_are_those_of_the_run_that_is_asked_for(folder, writer):
    ids = [records.new_run_id() for _ in range(2)]
    for run_id in ids:
        writer.execution(run_id, "A", mlmd.Execution.COMPLETE, made=({"of": run_id}, True))
    for run_id in ids:
        found = records.outputs_of_run(writer.store, "words", run_id, "A")
        assert found["made"].custom_properties["of"].string_value == run_id
    assert records.outputs_of_run(writer.store, "words", ids[0], "B") == {}
    assert records.outputs_of_run(writer.store, "words", "another", "A") == {}


def test_a_failed_nodes_outputs_are_not_a_runs(folder, writer):
    run_id = records.new_run_id()
    writer.execution(run_id, "A", mlmd.Execution.FAILED, made=({}, True))
    assert records.outputs_of_run(writer.store, "words", run_id, "A") == {}


def test_mending_closes_what_was_open_and_removes_what_it_wrote(folder, writer):
    run_id = records.new_run_id()
    dead = writer.execution(run_id, "A", mlmd.Execution.RUNNING)
    good = writer.execution(run_id, "B", mlmd.Execution.COMPLETE, made=({}, True))
    half = Path(folder.pipeline_root) / "A" / "made" / str(dead)
    system = Path(folder.pipeline_root) / "A" / ".system" / "executor_execution" / str(dead)
    for path in (half, system):
        path.mkdir(parents=True)
        (path / "half").touch()
    others = writer.execution("nightly", "A", mlmd.Execution.RUNNING)
    assert records.mend(folder, "") == []
    assert records.mend(folder, run_id) == ["Closed 1 interrupted executions."]
    states = {e.id: e.last_known_state for e in writer.store.get_executions()}
    assert states == {
        dead: mlmd.Execution.CANCELED,
        good: mlmd.Execution.COMPLETE,
        others: mlmd.Execution.RUNNING,
    }, "only the run that is known to be dead is closed"
    assert not half.exists()
    assert not system.exists()
    assert (Path(folder.pipeline_root) / "B" / "made" / str(good)).exists()
    assert records.mend(folder, run_id) == [], "a mended folder needs no mending"


def test_mending_forgets_artifacts_whose_files_are_gone(folder, writer):
    run_id = records.new_run_id()
    writer.execution(run_id, "A", mlmd.Execution.COMPLETE, gone=({}, False), there=({}, True))
    records.mend(folder, "")
    states = {a.uri.split("/")[-2]: a.state for a in writer.store.get_artifacts()}
    assert states == {"gone": mlmd.Artifact.DELETED, "there": mlmd.Artifact.LIVE}


@pytest.fixture
def version(folder):
    """A version as a push leaves it."""
    made = Path(folder.serving) / "17"
    (made / NOTE).parent.mkdir(parents=True)
    (made / NOTE).write_text("a push")
    (made / "saved_model.pb").write_text("a model")
    return made


def note_push(writer, version):
    """Notes a version as TFX notes that a run has pushed it."""
    properties = {"pushed": 1, "pushed_destination": str(version)}
    run_id = records.new_run_id()
    writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=(properties, True))


@pytest.mark.parametrize("left", ["nothing", "no bytes"])
def test_mending_forgets_a_push_whose_version_was_deleted(folder, writer, version, left):
    """Else the pusher would be cached, and the user told of a version that is not there."""
    note_push(writer, version)
    assert records.mend(folder, "") == []
    (version / "saved_model.pb").unlink()
    if left == "no bytes":
        (version / "saved_model.pb").touch()
    assert records.mend(folder, "") == [
        f"Removed {version}, whose model is gone.",
        "Forgot 1 artifacts whose files are gone.",
    ]
    assert not version.exists()
    assert writer.store.get_artifacts()[0].state == mlmd.Artifact.DELETED
    assert records.mend(folder, "") == []


def test_mending_forgets_a_push_of_which_nothing_says_that_it_is_ours_and_leaves_it(
    folder, writer, version
):
    note_push(writer, version)
    (version / NOTE).unlink()
    (version / "saved_model.pb").unlink()
    assert records.mend(folder, "") == ["Forgot 1 artifacts whose files are gone."]
    assert version.exists()


@pytest.mark.parametrize("name", ["17", "notes", "17.old", "v17", "١٧"])
def test_mending_leaves_folders_alone_that_no_push_has_made(folder, writer, version, name):
    note_push(writer, version.rename(version.with_name("16")))
    others = Path(folder.serving) / name
    others.mkdir()
    (others / "model.onnx").touch()
    assert records.mend(folder, "") == []
    assert (others / "model.onnx").exists()


def test_mending_leaves_the_copy_of_a_pushed_version_alone_that_somebody_is_making(
    folder, writer, version
):
    note_push(writer, version)
    copy = version.with_name("18")
    shutil.copytree(version, copy, ignore=lambda *_: ["saved_model.pb"])
    assert (copy / NOTE).exists()
    assert records.mend(folder, "") == []
    assert (copy / NOTE).exists()


def told(writer, number, recipe):
    """Notes a recipe on an execution, as TFX notes what a node was given."""
    [execution] = writer.store.get_executions_by_id([number])
    execution.custom_properties["recipe"].string_value = recipe
    writer.store.put_executions([execution])


def test_a_run_tells_its_settings_its_pairs_and_its_report(folder, writer):
    run_id = records.new_run_id()
    counts = {"train_pairs": 90, "eval_pairs": 5, "test_pairs": 5, "rejected_rows": 2}
    writer.execution(run_id, "PairExamples", mlmd.Execution.CACHED, examples=(counts, True))
    number = writer.execution(run_id, "Report", mlmd.Execution.COMPLETE, report=({}, True))
    told(writer, number, '{"training": {"epochs": 3}}')
    file = Path(folder.pipeline_root) / "Report" / "report" / str(number) / "index.html"
    file.touch()
    [record] = records.list_runs(folder)
    assert record.settings == {"training": {"epochs": 3}}
    assert record.data == {"train": 90, "eval": 5, "test": 5, "rejected": 2}
    assert record.report == str(file)


def test_a_report_that_was_deleted_is_not_told(folder, writer):
    writer.execution(records.new_run_id(), "Report", mlmd.Execution.COMPLETE, report=({}, True))
    [record] = records.list_runs(folder)
    assert (record.report, record.settings) == ("", {})


@pytest.mark.parametrize("recipe", ["", "no JSON", "[1]"])
def test_settings_that_cannot_be_read_are_none(folder, writer, recipe):
    number = writer.execution(records.new_run_id(), "Report", mlmd.Execution.FAILED)
    told(writer, number, recipe)
    [record] = records.list_runs(folder)
    assert (record.settings, record.failed_node) == ({}, "Report")


def test_a_report_that_failed_was_of_settings_that_are_known(folder, writer):
    number = writer.execution(records.new_run_id(), "Report", mlmd.Execution.FAILED)
    told(writer, number, '{"name": "words"}')
    assert records.list_runs(folder)[0].settings == {"name": "words"}
