"""The DAG file, without an Airflow: tests/airflow runs it in real ones."""

import ast
from datetime import date

import pytest

pytest.importorskip("tfx")

from pairloom.pipeline import cli
from pairloom.pipeline.compiled import read_compiled

RECIPE = """
name: words
description: it's "quoted" \\ and $strange
data: {format: tsv, train: 'pairs-{DATE}.tsv'}
schedule:
  cron: '0 3 * * *'
  start: 2026-11-15
  catch_up: true
  retries: 1
  pool: cpu
  nodes: {Trainer: {retries: 0, timeout_minutes: 600, pool: gpu}}
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(recipe=RECIPE, *arguments):
        (tmp_path / "words.yaml").write_text(recipe)
        code = cli.dispatch(["compile", "airflow", "words.yaml", *arguments])
        return code, tmp_path / "dags"

    return written


def settings(file):
    """PIPELINE and NODES of a DAG file, and what it imports."""
    tree = ast.parse(file.read_text())
    values = {
        statement.targets[0].id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
    }
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    return *(ast.literal_eval(values[name]) for name in ("PIPELINE", "NODES")), imported


def test_a_dag_says_what_the_schedule_does_and_imports_airflow_alone(written, capsys):
    code, dags = written(RECIPE, "--pairloom", "/opt/pairs/bin/pairloom")
    assert code == 0 and "0 3 * * *" in capsys.readouterr().out
    pipeline, nodes, imported = settings(dags / "words.py")
    assert imported == {"os", "shlex", "datetime", "pendulum", "airflow"}, "Airflow brings pendulum"
    assert pipeline["description"] == 'it\'s "quoted" \\ and $strange'
    assert pipeline["pairloom"] == "/opt/pairs/bin/pairloom"
    assert (pipeline["cron"], pipeline["start"]) == ("0 3 * * *", (2026, 11, 15))
    assert pipeline["catch_up"] and pipeline["runs_at_once"] == 1
    compiled = read_compiled(dags / pipeline["file"])
    assert list(nodes) == compiled.nodes
    assert all(node["after"] == compiled.upstream(name) for name, node in nodes.items())
    trainer, other = nodes["Trainer"], nodes["Transform"]
    assert (trainer["retries"], trainer["timeout_minutes"], trainer["pool"]) == (0, 600, "gpu")
    assert (other["retries"], other["timeout_minutes"], other["pool"]) == (1, 0, "cpu")


@pytest.mark.parametrize(("catch_up", "start"), [("false", (2000, 1, 1)), ("true", "today")])
def test_without_a_start_only_a_dag_that_catches_up_begins_today(written, catch_up, start):
    began = date.today()
    recipe = RECIPE.replace("  start: 2026-11-15\n", "").replace(": true", f": {catch_up}")
    _, dags = written(recipe)
    pipeline, *_ = settings(dags / "words.py")
    today = {(day.year, day.month, day.day) for day in (began, date.today())}
    assert pipeline["start"] in (today if start == "today" else {start})


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (RECIPE.replace("Trainer:", "Trainr:"), "Received: Trainr. Did you mean Trainer?"),
        (RECIPE.replace("2026-11-15", "soon"), "a date as 2026-11-17"),
        (RECIPE.replace("cron: '0 3 * * *'", "cron: '0 3 * *'"), "schedule.cron"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(written, capsys, recipe, words):
    code, dags = written(recipe)
    assert code == 1
    assert words in capsys.readouterr().err
    assert not dags.exists()
