import errno
import fcntl
import multiprocessing
import os
from pathlib import Path

import pytest

from pairloom.pipeline import run_folder
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import RunFolder, is_locked, shown_path


def test_everything_lies_under_the_recipes_name(tmp_path):
    folder = RunFolder.of(tmp_path, "words")
    assert folder.path == tmp_path / "words"
    assert folder.serving == str(tmp_path / "words" / "serving" / "words")
    for place in (folder.pipeline_root, folder.checkpoints, folder.logs):
        assert Path(place).parent == folder.path


@pytest.mark.parametrize("root", ["gs://bucket/pairs", "gs://bucket/pairs/", "/volume"])
def test_a_root_holds_all_but_logs_lock_note_and_metadata(tmp_path, monkeypatch, root):
    monkeypatch.setattr(run_folder, "make_folder", lambda path: None)
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    folder.settle(root=root)
    base = f"{root.rstrip('/')}/words"
    found = RunFolder.of(tmp_path, "words").places
    assert found == folder.planned(root=root)
    assert found.root == f"{base}/tfx" and found.checkpoints == f"{base}/checkpoints"
    assert found.push == f"{base}/serving/words" and found.report == f"{base}/report/index.html"
    assert found.metadata.startswith("sqlite:///") and str(folder.path) in found.metadata
    assert folder.logs.parent == folder.path
    assert folder.planned(root=root, push="/models").push == "/models"
    assert sorted(p.name for p in folder.path.iterdir()) == ["logs", "places.json"]


def test_a_folder_that_other_machines_run_in_has_the_environments_database(tmp_path, monkeypatch):
    monkeypatch.delenv("PAIRLOOM_METADATA", raising=False)
    folder = RunFolder.of(tmp_path, "task")
    assert not folder.has_metadata
    monkeypatch.setenv("PAIRLOOM_METADATA", "postgresql://db/pairs")
    assert folder.has_metadata and folder.places.metadata == "$PAIRLOOM_METADATA"
    folder.make()
    (folder.path / "metadata.sqlite").touch()
    assert folder.places.metadata.startswith("sqlite:"), "it has runs of its own"


def test_a_root_on_a_disk_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "root").write_text("a file")
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    with pytest.raises(
        UserError, match="a folder to write the run to. Received: .* or `places.root`"
    ):
        folder.settle(root=str(tmp_path / "root"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(UserError, match="--runs-dir"):
        RunFolder.of(tmp_path / "runs", "words").make()


def _hold(folder, held, free):
    with folder.locked():
        held.set()
        free.wait(30)


def test_two_runs_in_one_folder_are_told_apart_by_process(tmp_path):
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    assert not is_locked(folder)
    context = multiprocessing.get_context("fork")
    held, free = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(folder, held, free))
    other.start()
    try:
        assert held.wait(30)
        assert is_locked(folder)
        with pytest.raises(UserError, match=f"process {other.pid}"), folder.locked():
            pass
    finally:
        free.set()
        other.join(30)
    assert not is_locked(folder)
    with folder.locked():
        assert (folder.path / ".lock").read_text() == str(os.getpid())


def test_whoever_locks_a_folder_is_told_which_run_did_last(tmp_path):
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    # The third dies before it has mended what the second left.
    for run_id, last in (("one", ""), ("two", "one"), ("", "two"), ("three", "two"), ("", "three")):
        with folder.locked() as before:
            assert before == last
            if run_id:
                folder.note_run(run_id)


def test_a_killed_holder_leaves_no_lock(tmp_path):
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    context = multiprocessing.get_context("fork")
    held, free = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(folder, held, free))
    other.start()
    assert held.wait(30)
    other.kill()
    other.join(30)
    with folder.locked():
        pass


def test_a_volume_without_locks_is_named_and_no_other_run_made_up(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    with (
        pytest.raises(UserError, match=f"a volume .* Received: {folder.path} .No locks available"),
        folder.locked(),
    ):
        pass


def test_paths_are_shown_from_where_the_user_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "runs" / "a") == "runs/a"
    assert shown_path("/somewhere/else") == "/somewhere/else"
