"""Runs of the DAGs in real Airflows, 2.10 and 3: by hand, by their schedulers, and filled in."""

import pairs
import pytest

pytestmark = pytest.mark.minutes


def told(airflow, name):
    return pairs.told_runs(airflow.folder, name, airflow.variables)


def check_day(run, day):
    assert run["state"] == "done" and run["pushed"], run
    assert sum(run["data"].values()) == pairs.PAIRS[day], "the files of its own day"


def test_a_dag_runs_by_hand_and_tries_a_failed_task_again(airflow):
    airflow.run("dags", "test", "words", pairs.BY_HAND)
    [run] = told(airflow, "words")
    check_day(run, pairs.BY_HAND)
    assert len(list((airflow.folder / "tried").iterdir())) == 1, "Transform was to fail once"


@pytest.fixture(scope="module")
def scheduled(airflow):
    """The Airflow at work: the demo is due today, two days are filled in, and one DAG is newer."""
    by_hand = set(airflow.runs("words"))
    pairs.start_tomorrow(airflow.folder / "dags")
    airflow.run("dags", "reserialize")
    with airflow.scheduling():
        for dag in ("cmudict", "words", "newer"):
            airflow.run("dags", "unpause", dag)
        first, last = pairs.BACKFILLED
        if airflow.major >= 3:
            days = ["--from-date", f"{first}T00:00", "--to-date", f"{last}T23:00"]
            airflow.run("backfill", "create", "--dag-id", "words", *days, "--max-active-runs", "1")
        else:
            airflow.run("dags", "backfill", "-s", f"{first}T00:00", "-e", f"{last}T23:00", "words")
        airflow.states = {
            dag: airflow.wait_until_all_ended(dag, count)
            for dag, count in {"newer": 1, "words": len(by_hand) + 2, "cmudict": 1}.items()
        }
        airflow.filled_in = {
            run: state for run, state in airflow.states["words"].items() if run not in by_hand
        }
        yield airflow


def test_a_backfill_of_two_days_reads_the_files_of_each(scheduled):
    assert list(scheduled.filled_in.values()) == ["success", "success"], scheduled.filled_in
    runs = [run for run in told(scheduled, "words") if run["run"] in scheduled.filled_in]
    for run, day in zip(runs, pairs.BACKFILLED, strict=True):
        assert f"__{day}T" in run["run"]
        check_day(run, day)
    versions = [run["pushed"] for run in runs]
    assert pairs.pushed(scheduled.folder, "words")[-2:] == versions, "in order, each once"


def test_the_demo_runs_when_it_is_due_to_the_scores_of_a_local_run(scheduled, local):
    [(run, state)] = scheduled.states["cmudict"].items()
    assert state == "success" and run.startswith(f"scheduled__{pairs.TODAY}T00:00")
    [ended] = told(scheduled, "cmudict")
    assert (ended["run"], ended["state"], ended["data"]) == (run, "done", local["data"])
    assert ended["scores"] == local["scores"]
    assert pairs.pushed(scheduled.folder, "cmudict") == [ended["pushed"]]


def test_a_task_that_fails_once_is_tried_again(scheduled):
    for dag, runs in {"cmudict": scheduled.states["cmudict"], "words": scheduled.filled_in}.items():
        for run in runs:
            failed, good = scheduled.logs(dag, run, "Transform")
            assert "no luck" in failed and "no luck" not in good


def test_a_timeout_ends_a_node_and_its_retry_goes_on_from_the_checkpoint(scheduled):
    [run] = scheduled.states["cmudict"]
    first, *others = scheduled.logs("cmudict", run, "Trainer")
    assert "AirflowTaskTimeout" in first and "step 1 of" in first
    assert others and not any("step 1 of" in log for log in others)


def test_a_pairloom_older_than_the_pipeline_says_so_in_the_tasks_log(scheduled):
    [(run, state)] = scheduled.states["newer"].items()
    assert state == "failed"
    file = scheduled.folder / "dags" / "newer.pipeline.json"
    for log in scheduled.logs("newer", run, "PairExamples"):
        assert f"PairExamples failed: {file} was compiled by pairloom 99.0 (format" in log
        assert "Compile it again, or run it with that version." in log
        assert "site-packages/pairloom" not in log, "no traceback"
    assert told(scheduled, "newer") == []


def test_a_task_that_is_cleared_runs_again_and_pushes_nothing_twice(scheduled):
    [run] = scheduled.states["cmudict"]
    before = {task: len(scheduled.logs("cmudict", run, task)) for task in ("Trainer", "Pusher")}
    versions, known = pairs.pushed(scheduled.folder, "cmudict"), told(scheduled, "cmudict")
    scheduled.run("tasks", "clear", "cmudict", "-t", "Pusher", "-y")
    assert set(scheduled.wait_until_all_ended("cmudict", 1).values()) == {"success"}
    logs = scheduled.logs("cmudict", run, "Pusher")
    assert len(logs) == before["Pusher"] + 1 and '"done"' in logs[-1].replace("\\", "")
    assert len(scheduled.logs("cmudict", run, "Trainer")) == before["Trainer"]
    assert pairs.pushed(scheduled.folder, "cmudict") == versions
    assert told(scheduled, "cmudict") == known
