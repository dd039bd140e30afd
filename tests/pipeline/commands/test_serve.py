import socket
from pathlib import Path

import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.commands.serve import find_scores, find_served
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture
def pushed(tmp_path):
    """Makes run folders; with a version where a model was pushed."""

    def make(name: str, version: str = "1700000000") -> RunFolder:
        folder = RunFolder.of(tmp_path / "runs", name)
        folder.make()
        with records.open_store(folder):
            pass
        if version:
            (Path(folder.serving) / version).mkdir(parents=True)
        return folder

    return make


def test_the_only_run_with_a_model_is_meant(pushed, tmp_path):
    folder = pushed("words")
    pushed("other", version="")
    assert find_served(str(tmp_path / "runs"), None) == folder


def test_a_run_is_found_by_name_or_by_folder(pushed, tmp_path):
    folder = pushed("words")
    pushed("other")
    assert find_served(str(tmp_path / "runs"), "words") == folder
    assert find_served("elsewhere", str(folder.path)) == folder


def test_without_any_model_the_user_is_told_how_to_make_one(tmp_path):
    with pytest.raises(UserError, match="pairloom run RECIPE"):
        find_served(str(tmp_path), None)


def test_of_several_runs_one_must_be_named(pushed, tmp_path):
    pushed("one")
    pushed("two")
    with pytest.raises(UserError, match="none of one, two.*pairloom serve one"):
        find_served(str(tmp_path / "runs"), None)


def test_a_misspelt_run_gets_the_nearest(pushed, tmp_path):
    pushed("words")
    with pytest.raises(UserError, match="no such run.*Did you mean `words`"):
        find_served(str(tmp_path / "runs"), "wrods")


def test_a_run_that_pushed_nothing_says_so(pushed, tmp_path):
    pushed("words", version="")
    with pytest.raises(UserError, match="no model was pushed"):
        find_served(str(tmp_path / "runs"), "words")


def test_a_folder_that_is_no_version_is_no_pushed_model(pushed, tmp_path):
    folder = pushed("words", version="²")
    (Path(folder.serving) / "7").write_text("a file")
    with pytest.raises(UserError, match="no model was pushed"):
        find_served(str(tmp_path / "runs"), "words")
    (Path(folder.serving) / "0").mkdir()
    assert find_served(str(tmp_path / "runs"), "words") == folder


def test_the_scores_of_a_version_are_those_of_the_run_that_first_pushed_it(folder, writer):
    ids = [records.new_run_id() for _ in range(3)]
    for run_id, version in zip(ids, ("16", "17", "17")):
        made = {"pushed": 1, "pushed_version": version, "pushed_destination": ""}
        writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=(made, True))
    found = find_scores(folder, "words", 17)
    [_, first, _] = records.list_runs(folder)
    assert found.started == first.started.isoformat()
    assert (found.scores, found.seconds) == (first.scores, first.seconds)
    assert find_scores(folder, "words", 18) is None


def test_a_folder_without_records_has_no_scores(folder):
    assert find_scores(folder, "words", 17) is None


def test_a_port_in_use_is_told_in_a_sentence(pushed, pairloom):
    pushed("words")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = pairloom("serve", "words", "--port", port, "--rest_api_port", "0")
    assert code == 1
    assert str(port) in err
    assert "another program uses this port" in err
    first, *told = err.strip().splitlines()
    assert first.startswith("Loading words from ") and first.endswith("; it takes some seconds.")
    assert len(told) == 1


def test_a_base_path_that_is_not_there_is_named(pairloom):
    code, _, err = pairloom("serve", "--model_base_path", "nowhere/m", "--port", "0")
    assert code == 1
    assert "nowhere" in err
    assert "Traceback" not in err
