"""The DAG file as real Airflows read it, 2.10 and 3."""

import json

import pytest

pytestmark = pytest.mark.minutes

READ = """
import json, runpy, sys, time
try:
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG
except ImportError:
    from airflow import DAG
    from airflow.operators.bash import BashOperator
from airflow.timetables.trigger import CronTriggerTimetable

# Of the processor: a machine may be busy.
began = time.process_time()
dag = runpy.run_path(sys.argv[1])["dag"]
seconds = time.process_time() - began
tasks = {
    task.task_id: {
        "after": sorted(task.upstream_task_ids),
        "pool": task.pool,
        "timeout": task.execution_timeout and task.execution_timeout.total_seconds(),
        "retries": task.retries,
        "delay": task.retry_delay.total_seconds(),
    }
    for task in dag.tasks
}
foreign = [name for name in sys.modules if name.split(".")[0] in ("pairloom", "tfx", "tensorflow")]
print()
print(json.dumps({"seconds": seconds, "tasks": tasks, "foreign": foreign, "catch_up": dag.catchup,
                  "runs_at_once": dag.max_active_runs}))
"""


DAY = """
import runpy, sys
from datetime import datetime, timezone
from types import SimpleNamespace
import jinja2

dag = runpy.run_path(sys.argv[1])["dag"]
due = datetime(2026, 11, 16, 18, tzinfo=timezone.utc)
for run in (SimpleNamespace(logical_date=due), SimpleNamespace(logical_date=None, run_after=due)):
    print(jinja2.Template(dag.tasks[0].env["DAY"]).render(dag=dag, dag_run=run))
"""


@pytest.fixture(scope="module")
def read(airflow):
    """The demo's DAG, as Airflow's own classes hold it."""
    out = airflow.python(READ, str(airflow.folder / "dags" / "cmudict.py"))
    return json.loads(out.splitlines()[-1])


def test_dags_are_read_without_an_error(airflow):
    assert airflow.listed("dags", "list-import-errors") == []
    known = {dag["dag_id"] for dag in airflow.listed("dags", "list")}
    assert known == {"words", "cmudict", "newer"}


def test_pools_timeouts_and_retries_are_the_recipes(read):
    tasks = read["tasks"]
    trainer = tasks.pop("Trainer")
    assert trainer["pool"] == "training" and trainer["timeout"] == 300 and trainer["retries"] == 5
    assert len(tasks) == 10
    for name, task in tasks.items():
        told = {key: task[key] for key in ("pool", "timeout", "retries")}
        assert told == {"pool": "pairs", "timeout": None, "retries": 2}, name
    assert {task["delay"] for task in (trainer, *tasks.values())} == {3}
    assert read["catch_up"] is False and read["runs_at_once"] == 1
    assert tasks["PairExamples"]["after"] == []
    assert "Evaluator" in tasks["Pusher"]["after"]


def test_a_dag_file_takes_well_under_a_second_beside_airflows_own_import(read):
    assert read["seconds"] < 1
    assert read["foreign"] == []


@pytest.mark.parametrize(("zone", "day"), [("UTC", "16"), ("Asia/Tokyo", "17")])
def test_the_date_of_a_run_is_that_of_the_schedules_time_zone(airflow, tmp_path, zone, day):
    text = (airflow.folder / "dags" / "words.py").read_text("utf-8")
    assert "'timezone': 'UTC'" in text
    file = tmp_path / "words.py"
    file.write_text(text.replace("'timezone': 'UTC'", f"'timezone': '{zone}'"), "utf-8")
    assert airflow.python(DAY, str(file)).split()[-2:] == [f"2026-11-{day}"] * 2
