"""PairExamples through TFX's launcher, with a real metadata store."""

import json

import pytest
from ml_metadata.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd
from tfx.orchestration import metadata, pipeline
from tfx.orchestration.local import local_dag_runner

from pairloom.components.pairs import executor
from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.component import PairExamples
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.summary import read_summary

FIELDS = json.dumps({"source": {"kind": "text"}, "target": {"kind": "text"}})
GOOD = "".join(f"word {i}\twort {i}\n" for i in range(100))


@pytest.fixture
def run(tmp_path):
    """Runs a pipeline of PairExamples alone, on `a.tsv`; each time in the same root."""

    def run(fields=FIELDS, output="target", inputs="", **data):
        data = {
            "format": "tsv",
            "train": str(tmp_path / "a.tsv"),
            "split": {"eval": 0.1, "test": 0.1},
            **data,
        }
        component = PairExamples(json.dumps(data), fields, output, inputs)
        connection = metadata.sqlite_metadata_connection_config(str(tmp_path / "mlmd.sqlite"))
        local_dag_runner.LocalDagRunner().run(
            pipeline.Pipeline(
                "pairs",
                str(tmp_path / "root"),
                components=[component],
                enable_cache=True,
                metadata_connection_config=connection,
            )
        )

    return run


@pytest.fixture
def states(tmp_path):
    """The states of all executions so far, in order."""

    def states():
        config = mlmd.ConnectionConfig()
        config.sqlite.filename_uri = str(tmp_path / "mlmd.sqlite")
        found = MetadataStore(config).get_executions()
        found.sort(key=lambda execution: execution.id)
        return [mlmd.Execution.State.Name(one.last_known_state) for one in found]

    return states


def test_the_cache_counts_only_while_the_data_are_the_same(write, run, states):
    write("a.tsv", GOOD)
    run()
    run()
    assert states() == ["COMPLETE", "CACHED"]
    write("a.tsv", GOOD.replace("word 7", "word x"))
    run()
    assert states() == ["COMPLETE", "CACHED", "COMPLETE"]
    write("a.tsv", GOOD)
    run()
    assert states()[-1] == "CACHED"
    run(max_length=1000)
    assert states()[-1] == "COMPLETE"


def test_a_new_file_of_a_glob_is_noticed(write, run, states, tmp_path):
    write("parts/1.tsv", GOOD)
    run(train=str(tmp_path / "parts/*.tsv"))
    write("parts/2.tsv", GOOD)
    run(train=str(tmp_path / "parts/*.tsv"))
    assert states() == ["COMPLETE", "COMPLETE"]


def test_the_artifact_tells_the_counts(write, run, tmp_path):
    write("a.tsv", GOOD + "bad\n")
    run()
    config = mlmd.ConnectionConfig()
    config.sqlite.filename_uri = str(tmp_path / "mlmd.sqlite")
    (examples,) = MetadataStore(config).get_artifacts_by_type("Examples")
    counts = {
        name: value.int_value
        for name, value in examples.custom_properties.items()
        if name.endswith(("_pairs", "_rows"))
    }
    summary = read_summary(examples.uri)
    pairs = {f"{split}_pairs": count for split, count in summary.splits.items()}
    assert counts == {**pairs, "rejected_rows": 1, "left_out_rows": 0}
    assert summary.good == 100


def test_rejected_rows_stay_when_a_run_fails(write, run, states, tmp_path):
    write("a.tsv", GOOD + "bad\n" * 5)
    with pytest.raises(DataError, match=r"5 of 105 rows were rejected \(4.76%") as error:
        run()
    assert states() == ["FAILED"]
    kept = str(error.value).rsplit("All rejected rows: ", 1)[1]
    assert kept.startswith(str(tmp_path / "root"))
    with open(f"{kept}/rejected-00000.jsonl") as file:
        assert [json.loads(line)["line"] for line in file] == [101, 102, 103, 104, 105]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"train": "/nowhere/a.tsv"}, "no folder `/nowhere`"),
        ({"format": "xls"}, "`data.format` must be one of"),
    ],
)
def test_a_users_mistake_fails_the_run_and_can_be_mended(write, run, states, data, message):
    write("a.tsv", GOOD)
    with pytest.raises(DataError, match=message):
        run(**data)
    assert states() == ["FAILED"]
    run()
    assert states() == ["FAILED", "COMPLETE"]


def test_parallel_files_of_different_lengths_fail_the_run(write, run, tmp_path):
    write("a.en", "x\n" * 5), write("a.de", "x\n" * 4)
    files = {"source": str(tmp_path / "a.en"), "target": str(tmp_path / "a.de")}
    with pytest.raises(DataError, match="a.en` has 5 lines, .*a.de` has 4 lines"):
        run(format="parallel", train=files)


def test_a_field_alone_is_read_and_generated_rows_are_cached(run, states, tmp_path):
    fields = json.dumps({"text": {"kind": "text"}})
    data = {"format": "xml", "train": None, "options": {"count": 60, "seed": 2}}
    for _ in range(2):
        run(fields, "text", "[]", **data)
    assert states() == ["COMPLETE", "CACHED"]
    run(fields, "text", "[]", **{**data, "options": {"count": 60, "seed": 3}})
    assert states()[-1] == "COMPLETE"


def test_rows_of_another_width_are_rejected_as_a_check_says(write, run, tmp_path):
    path = write("a.tsv", "".join(f"{i} {i}\t{i % 2}\n" for i in range(100)) + "1 2 3\t0\n")
    fields = {"x": {"kind": "numbers"}, "y": {"kind": "label"}}
    run(json.dumps(fields), "y")
    [kept] = (tmp_path / "root/PairExamples/rejected").glob("*/rejected-*.jsonl")
    data = {"format": "tsv", "train": str(path), "split": {"eval": 0.1, "test": 0.1}}
    [wrong] = check_pairs(data, fields, "y").rejections
    assert wrong.line == 101
    assert [json.loads(line) for line in kept.read_text().splitlines()] == [wrong._asdict()]


def test_rows_that_are_left_out_are_counted_and_not_written(write, run, tmp_path):
    write("a.tsv", GOOD), write("b.tsv", "word 3\tdrei\nword 4\tvier\n")
    run(test=str(tmp_path / "b.tsv"), split={"eval": 0.1}, disjoint=True)
    (folder,) = (tmp_path / "root/PairExamples/examples").iterdir()
    summary = read_summary(str(folder))
    assert (summary.left_out, summary.rejected, summary.good) == (2, 0, 100)


@pytest.mark.parametrize("moment", ["plan_chunks", "read_summary"])
def test_data_that_change_while_they_are_read_are_told_and_never_cached(
    write, run, states, monkeypatch, moment
):
    """Before they are read, and after: what is noted of them in the cache is of neither."""
    write("a.tsv", GOOD)

    def changing(*arguments):
        write("a.tsv", GOOD.replace("word 7", "word x"))
        return real(*arguments)

    real = getattr(executor, moment)
    monkeypatch.setattr(executor, moment, changing)
    if moment == "plan_chunks":
        with pytest.raises(DataError, match="Expected data that stay as they are.*same command"):
            run()
        assert states() == ["FAILED"]
        monkeypatch.undo()
        run()
        assert states() == ["FAILED", "COMPLETE"]
    else:
        run()
        monkeypatch.undo()
        run()
        assert states() == ["COMPLETE", "COMPLETE"], "the next run reads what is new"
        run()
        assert states()[-1] == "CACHED"
