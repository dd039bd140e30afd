"""Pipelines of containers that could not work, for each would have folders of its own."""

import pytest

pytest.importorskip("tfx")
pytest.importorskip("kfp")

from pairloom.pipeline import cli

RECIPE = """
name: words
data: {format: tsv, folder: /pairs/data, train: 'pairs-{DATE}.tsv'}
"""
VOLUME = "schedule.volumes={pairs: /pairs}"
DATABASE = "schedule.secrets={PAIRLOOM_METADATA: database/url}"


@pytest.fixture
def compiled(tmp_path, monkeypatch, capsys):
    """Compiles a recipe with overrides: the exit code and what is said on stderr."""
    output = tmp_path / "words.kubeflow.yaml"
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PAIRLOOM_METADATA", raising=False)
    (tmp_path / "words.yaml").write_text(RECIPE)

    def compiled(*overrides, runs="/pairs/runs"):
        settings = [word for override in overrides for word in ("--set", override)]
        told = ["compile", "kubeflow", "words.yaml", "--runs-dir", runs, *settings]
        output.unlink(missing_ok=True)
        code = cli.dispatch(told)
        assert output.exists() == (code == 0)
        return code, capsys.readouterr().err

    return compiled


def test_without_a_volume_it_is_told_what_lies_where_and_what_to_set(compiled, tmp_path):
    code, told = compiled("data.folder=.", runs="runs")
    assert code == 1 and told.count("\n") == 1
    assert "`schedule.volumes` (which names none)" in told
    assert f"artifacts in {tmp_path}/runs/words/tfx (--runs-dir or places.root)" in told
    assert f"metadata in {tmp_path}/runs/words/metadata.sqlite" in told
    assert f"the data {tmp_path}/pairs-{{DATE}}.tsv (data.folder)" in told
    assert "--set schedule.volumes.CLAIM=/pairs" in told


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ([VOLUME, DATABASE, "data.folder=/elsewhere"], "the data /elsewhere/pairs-{DATE}.tsv"),
        ([VOLUME, DATABASE, "data.folder=/pairs-2"], "the data /pairs-2/"),
        ([VOLUME, DATABASE, "data.folder=/pairs/../data"], "the data /data/"),
        ([VOLUME, DATABASE, "places.root=/elsewhere"], "artifacts in /elsewhere/words/tfx"),
        ([VOLUME, DATABASE, "places.push=/models"], "versions in /models (places.push)"),
        (
            [VOLUME, "places.root=gs://b/pairs", "places.metadata=sqlite:////a b"],
            "metadata in /a b",
        ),
        (
            ["schedule.nodes={PairExamples: {volumes: {pairs: /pairs}}}", DATABASE],
            "/pairs/runs/words/tfx (--runs-dir or places.root, not mounted by FieldLearner)",
        ),
        (
            [
                *(VOLUME, DATABASE, "data.format=jsonl"),
                "fields={photo: {kind: image, folder: /photos}, target: {}}",
            ],
            "the data /photos (data.folder)",
        ),
    ],
)
def test_what_no_container_or_only_some_see_is_refused(compiled, overrides, words):
    code, told = compiled(*overrides)
    assert code == 1 and words in told, told
    assert told.count("(data.folder") <= 1


@pytest.mark.parametrize(
    "overrides",
    [
        [VOLUME, DATABASE],
        [VOLUME, DATABASE, "data.folder=gs://bucket/data"],
        [VOLUME, "places.metadata=postgresql://pairloom:$PASSWORD@db/pairs"],
        ["places.root=gs://b", "data.folder=gs://b/data", DATABASE],
        [VOLUME, DATABASE, "data={format: cmudict}"],
        [VOLUME, DATABASE, "data.train=[/pairs/a.tsv, 'gs://b/c.tsv']", "data.folder=."],
        [
            DATABASE,
            "schedule.volumes={runs: /pairs/runs/}",
            "schedule.nodes={PairExamples: {volumes: {data: /pairs/data}}}",
        ],
        [
            *(VOLUME, DATABASE, "places.push=/models"),
            "schedule.nodes={Pusher: {volumes: {models: /models}}}",
        ],
    ],
)
def test_what_every_node_sees_that_opens_it_is_taken_without_a_word(compiled, overrides):
    assert compiled(*overrides) == (0, "")


def test_sqlite_that_pods_write_side_by_side_is_warned_of(compiled):
    code, told = compiled(VOLUME)
    assert code == 0 and told.startswith("Note: the metadata are SQLite on a volume")
    assert "schedule.secrets.PAIRLOOM_METADATA" in told and told.count("\n") == 1
    file = "sqlite:////pairs/metadata.sqlite"
    code, told = compiled(VOLUME, "places.root=gs://b", f"places.metadata={file}")
    assert code == 0 and "SQLite" in told


def test_what_is_airflow_s_alone_is_told_once(compiled):
    nodes = "schedule.nodes={Trainer: {timeout_minutes: 600, pool: gpu}, Pusher: {pool: ''}}"
    code, told = compiled(VOLUME, DATABASE, nodes, "schedule.timeout_minutes=60")
    assert code == 0
    assert told == (
        "Note: `schedule.timeout_minutes`, `schedule.nodes.Trainer.timeout_minutes`, "
        "`schedule.nodes.Trainer.pool`: without effect on Kubeflow.\n"
    )
