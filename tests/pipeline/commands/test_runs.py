import json
from pathlib import Path

import pytest
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
    heads = ["recipe", "run", "started", "took", "state", "scores", "blessed", "pushed"]
    assert out.split() == heads


def test_a_run_of_another_runner_has_its_row(pairloom, tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "words")
    folder.make()
    with records.open_store(folder) as store:
        run, node = (
            mlmd.Context(type_id=store.put_context_type(mlmd.ContextType(name=kind)), name=name)
            for kind, name in (
                ("pipeline_run", "2024-05-06T07:08:09.101112"),
                ("node", "words.Trainer"),
            )
        )
        execution = mlmd.Execution(
            type_id=store.put_execution_type(mlmd.ExecutionType(name="Trainer")),
            last_known_state=mlmd.Execution.FAILED,
        )
        store.put_execution(execution, [], [run, node])
    code, out, err = pairloom("runs")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("words") and "failed" in out


@pytest.fixture
def written(tmp_path):
    """Writes a run that got to its report, with these settings; gives its id and report."""

    def written(name, settings):
        folder, run_id = RunFolder.of(tmp_path / "runs", name), records.new_run_id()
        folder.make()
        with records.open_store(folder) as store:
            kinds = {
                kind: store.put_context_type(mlmd.ContextType(name=kind))
                for kind in ("pipeline_run", "node")
            }
            report = mlmd.Artifact(
                type_id=store.put_artifact_type(mlmd.ArtifactType(name="RunReport")),
                uri=str(Path(folder.pipeline_root) / run_id),
            )
            execution = mlmd.Execution(
                type_id=store.put_execution_type(mlmd.ExecutionType(name="Report")),
                last_known_state=mlmd.Execution.COMPLETE,
            )
            execution.custom_properties["recipe"].string_value = json.dumps(settings)
            told = {"model.ensemble": 9}
            execution.custom_properties["overrides"].string_value = json.dumps(told)
            event = mlmd.Event(type=mlmd.Event.OUTPUT)
            event.path.steps.add().key = "report"
            names = {"pipeline_run": run_id, "node": f"{name}.Report"}
            contexts = [
                *(c for c in store.get_contexts() if c.name in names.values()),
                *(
                    mlmd.Context(type_id=kinds[kind], name=of)
                    for kind, of in names.items()
                    if of not in {c.name for c in store.get_contexts()}
                ),
            ]
            store.put_execution(execution, [(report, event)], contexts)
        for file in (Path(folder.pipeline_root) / run_id / "index.html", Path(folder.report)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(run_id)
        return run_id, Path(folder.pipeline_root) / run_id / "index.html"

    return written


def test_the_newest_run_is_the_last_of_all_recipes(pairloom, written):
    ids = [written(name, {})[0] for name in ("words", "letters", "words", "apples")]
    _, out, _ = pairloom("runs")
    assert [word for line in out.splitlines() for word in line.split() if word in ids] == ids
    _, out, _ = pairloom("runs", "--json")
    assert [run["run"] for run in json.loads(out)] == ids


def test_the_latest_report_of_each_recipe_is_named_below_the_table(pairloom, written):
    written("letters", {})
    written("words", {})
    code, out, err = pairloom("runs")
    assert (code, err) == (0, "")
    assert "report of letters  runs/letters/report/index.html" in out
    assert "report of words  runs/words/report/index.html" in out


def test_a_name_tells_the_newest_runs_settings_and_report(pairloom, written):
    written("words", {"training": {"epochs": 1}})
    newest, _ = written("words", {"training": {"epochs": 2}, "inputs": ["a b"]})
    written("letters", {"training": {"epochs": 7}})
    code, out, _ = pairloom("runs", "words")
    assert code == 0
    assert f"run  {newest}" in out
    assert "training.epochs  2" in out and 'inputs  ["a b"]' in out
    assert "other than in the recipe's file\n  model.ensemble  9\nsettings" in out
    assert "report  runs/words/report/index.html" in out
    assert "letters" not in out and "epochs  1" not in out


def test_an_id_tells_that_run(pairloom, written):
    first, _ = written("words", {"training": {"epochs": 1}})
    written("words", {"training": {"epochs": 2}})
    code, out, _ = pairloom("runs", first)
    assert code == 0
    assert "training.epochs  1" in out and "epochs  2" not in out
    assert f"report  runs/words/tfx/{first}/index.html" in out, "a later one took its place"


def test_json_tells_the_same_to_programs(pairloom, written):
    run_id, report = written("words", {"training": {"epochs": 1}})
    code, out, _ = pairloom("runs", "words", "--json")
    [one] = json.loads(out)
    assert code == 0
    assert (one["recipe"], one["run"], one["report"]) == ("words", run_id, str(report))
    assert one["settings"] == {"training": {"epochs": 1}}
    assert one["overrides"] == {"model.ensemble": 9}
    assert json.loads(pairloom("runs", "--json")[1]) == [one]
    assert json.loads(pairloom("runs", "nobody", "--json")[1]) == []


def test_two_runs_are_compared_by_id_or_by_name(pairloom, written):
    first, _ = written("words", {"training": {"epochs": 1, "seed": 1}})
    second, _ = written("words", {"training": {"epochs": 2, "seed": 1}, "schema": "s"})
    third, _ = written("letters", {"training": {"epochs": 3, "seed": 1}})
    code, out, err = pairloom("runs", "--diff", first, second)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines == [
        ["setting", first, second], ["training.epochs", "1", "2"], ["schema", "–", "s"],
    ]  # fmt: skip
    told = json.loads(pairloom("runs", "--diff", "words", "letters", "--json")[1])
    assert told["runs"] == [second, third], "a name is its newest run"
    assert told["settings"] == {"training.epochs": [2, 3], "schema": ["s", "–"]}


def test_a_run_is_the_same_as_itself(pairloom, written):
    run_id, _ = written("words", {"training": {"epochs": 1}})
    assert "all settings are the same" in pairloom("runs", "--diff", run_id, "words")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--diff", "words", "word"], "Did you mean words?"),
        (["words", "--diff", "words", "words"], "Expected NAME or --diff RUN RUN"),
    ],
)
def test_a_run_that_is_not_there_is_said_so(pairloom, written, arguments, told):
    written("words", {"a": 1})
    code, _, err = pairloom("runs", *arguments)
    assert code == 1
    assert told in err


def test_a_run_that_did_not_get_to_its_report_cannot_be_compared(pairloom, written):
    run_id, _ = written("words", {})
    code, _, err = pairloom("runs", "--diff", run_id, run_id)
    assert code == 1
    assert "Expected a run that got to its report" in err
