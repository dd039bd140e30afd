from pathlib import Path

import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.commands.serve_runs import (
    find_all_served,
    find_scores,
    find_served,
    model_config,
)
from pairloom.pipeline.errors import UserError
from pairloom.serving.server.model_config import read_model_config


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
    found = find_scores([folder], "words", 17)
    [_, first, _] = records.list_runs(folder)
    assert found.started == first.started.isoformat()
    assert (found.scores, found.seconds) == (first.scores, first.seconds)
    assert find_scores([folder], "words", 18) is None


def test_a_folder_without_records_has_no_scores(folder):
    assert find_scores([folder], "words", 17) is None


def test_scores_are_those_of_the_model_of_that_name(folder, writer):
    run_id = records.new_run_id()
    made = {"pushed": 1, "pushed_version": "17", "pushed_destination": ""}
    writer.execution(run_id, "Pusher", mlmd.Execution.COMPLETE, pushed_model=(made, True))
    assert find_scores([folder], folder.name, 17) is not None
    assert find_scores([folder], "another", 17) is None


def test_several_runs_are_each_found_once(pushed, tmp_path):
    one, two = pushed("one"), pushed("two")
    assert find_all_served(str(tmp_path / "runs"), ["two", "one", str(two.path)]) == [two, one]
    with pytest.raises(UserError, match="none of one, two.*or several"):
        find_all_served(str(tmp_path / "runs"), [])


def test_two_models_of_one_name_are_refused(pushed, tmp_path):
    pushed("one")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs" / "one").rename(tmp_path / "elsewhere" / "one")
    pushed("one")
    wanted = ["one", str(tmp_path / "elsewhere" / "one")]
    with pytest.raises(UserError, match="different names. Received: one more than once"):
        find_all_served(str(tmp_path / "runs"), wanted)


def test_a_recipe_s_file_means_its_runs(pushed, tmp_path):
    recipe = tmp_path / "my.yaml"
    recipe.write_text("name: words\ndata: {format: cmudict}\n")
    with pytest.raises(UserError, match="no such run.*Make one with `pairloom run .*my.yaml`"):
        find_served(str(tmp_path / "runs"), str(recipe))
    folder = pushed("words")
    assert find_served(str(tmp_path / "runs"), str(recipe)) == folder


def test_an_unknown_name_says_where_it_was_looked_for(pushed, tmp_path):
    pushed("words")
    with pytest.raises(UserError, match=f"there is no {tmp_path / 'runs' / 'nothing'}"):
        find_served(str(tmp_path / "runs"), "nothing")


@pytest.mark.parametrize(("all_versions", "policy"), [(False, "latest"), (True, "all")])
def test_the_server_reads_what_it_is_told_of_several(pushed, all_versions, policy):
    folders = [pushed("one"), pushed('t"w\\o ü')]
    with model_config(folders, all_versions) as file:
        models = read_model_config(Path(file))
    assert [(model.name, str(model.base_path)) for model in models] == [
        (folder.name, folder.serving) for folder in folders
    ]
    assert {model.policy.kind for model in models} == {policy}
    assert not Path(file).exists()
