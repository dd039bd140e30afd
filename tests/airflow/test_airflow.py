"""The DAG of a recipe in real Airflows, 2.10 and 3, each in an environment of its own.

`make test-airflow` installs them; where one is missing its tests are skipped.
"""

import json
import os
import random
import stat
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
from airflow_home import AirflowHome

pytestmark = pytest.mark.minutes

ROOT = Path(__file__).parents[2]
PAIRLOOM = Path(sys.executable).with_name("pairloom")
TODAY = datetime.now(timezone.utc).date()
DAYS = tuple(str(TODAY - timedelta(days)) for days in (2, 1))
RECIPE = """
name: words
data: {format: tsv, train: 'pairs-{DATE}.tsv', split: {eval: 0.1, test: 0.1}}
vocabularies: {source: {method: characters, size: 300}, target: {method: characters, size: 300}}
model:
  encoder: {type: tokens, units: 16, embedding_units: 8}
  decoder: {type: recurrent, units: 16, embedding_units: 8}
training: {epochs: 1}
schedule: {cron: '0 0 * * *', start: 2026-01-01, retries: 1, retry_minutes: 0.05}
"""
# Fails the first time that it is asked for the node Transform.
FAILS_ONCE = """#!/bin/sh
if [ "$3" = Transform ] && mkdir "{flag}" 2>/dev/null; then echo "no luck" >&2; exit 1; fi
exec "{pairloom}" "$@"
"""


@pytest.fixture(scope="module", params=["2", "3"])
def airflow(request, tmp_path_factory):
    environment = ROOT / f".venv-airflow{request.param}"
    if not (environment / "bin" / "airflow").exists():
        pytest.skip(f"{environment.name} is not there: make test-airflow")
    folder = tmp_path_factory.mktemp("airflow")
    draw = random.Random(1)
    for day in (*DAYS, TODAY):
        words = ["".join(draw.choices("abcdef", k=draw.randint(2, 7))) for _ in range(600)]
        (folder / f"pairs-{day}.tsv").write_text("".join(f"{w}\t{w[::-1]}\n" for w in words))
    (folder / "words.yaml").write_text(RECIPE)
    command = folder / "pairloom"
    command.write_text(FAILS_ONCE.format(flag=folder / "failed", pairloom=PAIRLOOM))
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    subprocess.run(
        [PAIRLOOM, "compile", "airflow", "words.yaml", "-o", "dags", "--pairloom", str(command)],
        cwd=folder,
        check=True,
    )
    made = AirflowHome(environment, folder / "home", folder / "dags")
    made.folder = folder
    return made


def runs(airflow) -> list[dict]:
    """The runs as pairloom tells them, oldest first."""
    told = subprocess.run(
        [PAIRLOOM, "runs", "words", "--json"], cwd=airflow.folder, capture_output=True, check=True
    )
    return json.loads(told.stdout)


def pushed(airflow) -> list[str]:
    return sorted(os.listdir(airflow.folder / "runs" / "words" / "serving" / "words"))


def test_a_dag_is_read_without_an_error(airflow):
    assert airflow.listed("dags", "list-import-errors") == []
    tasks = airflow.run("tasks", "list", "words").split()
    assert {"PairExamples", "Trainer", "Pusher", "Report"} <= set(tasks)


def test_a_run_by_hand_with_a_task_that_fails_once(airflow):
    airflow.run("dags", "test", "words", DAYS[1])
    assert (airflow.folder / "failed").exists(), "Transform was to fail once, and be tried again"
    [run] = runs(airflow)
    assert run["state"] == "done" and run["data"]["train"] > 400
    assert len(pushed(airflow)) == bool(run["pushed"])


def test_the_scheduler_runs_today_backfills_two_days_and_runs_a_cleared_task_again(airflow):
    before = runs(airflow)
    known = len(airflow.runs("words"))
    airflow.run("dags", "unpause", "words")
    with airflow.scheduling():
        if airflow.major >= 3:
            days = ["--from-date", f"{DAYS[0]}T00:00", "--to-date", f"{DAYS[1]}T23:00"]
            airflow.run("backfill", "create", "--dag-id", "words", *days, "--max-active-runs", "1")
        else:
            days = ["-s", f"{DAYS[0]}T00:00", "-e", f"{DAYS[1]}T23:00"]
            airflow.run("dags", "backfill", *days, "words")
        # The two days, and today, which is due as soon as the DAG is no longer paused.
        states = airflow.wait_until_all_ended("words", known + 3)
        assert set(states.values()) == {"success"}, states
        done = runs(airflow)[len(before) :]
        assert {run["state"] for run in done} == {"done"}, done
        for day in (*DAYS, TODAY):
            assert sum(f"__{day}T" in run["run"] for run in done) == 1, (day, done)
        versions = pushed(airflow)
        airflow.run("tasks", "clear", "words", "-t", "Report", "-y")
        states = airflow.wait_until_all_ended("words", known + 3)
        assert set(states.values()) == {"success"}, states
    assert pushed(airflow) == versions, "nothing is pushed twice"
