"""A schedule that overlaps itself: runs of one recipe side by side, which all end and all push."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("tfx")

sys.path.append(str(Path(__file__).parent))
from words_run import LONGEST, NODES, RECIPE, Watcher, WordsRun

pytestmark = pytest.mark.minutes

DAYS = {"nightly-1": "2026-11-15", "nightly-2": "2026-11-16", "by-hand": "2026-11-17"}


@pytest.fixture
def words(tmp_path):
    made = WordsRun(tmp_path / "words")
    for number, day in enumerate(DAYS.values()):
        rows = (made.path / "pairs.tsv").read_text().splitlines(keepends=True)
        (made.path / f"pairs-{day}.tsv").write_text("".join(rows[10 * number :]))
    (made.path / "words.yaml").write_text(RECIPE.replace("pairs.tsv", "'pairs-{DATE}.tsv'"))
    return made


def test_runs_of_one_recipe_at_the_same_time_all_end_and_each_pushes_a_whole_version(words):
    words.ended("compile", "words.yaml", "-o", "words.json")
    together = threading.Barrier(2)

    def nightly(run_id):
        try:
            for node in NODES:
                together.wait(LONGEST)
                date = ["--date", DAYS[run_id]] if node == NODES[0] else []
                told = words.ended("node", "words.json", node, "--run-id", run_id, *date)
                assert json.loads(told)["state"] == "done", told
        except BaseException:
            # The other one need not wait.
            together.abort()
            raise

    with Watcher(words) as watcher, ThreadPoolExecutor(3) as at_once:
        ends = [at_once.submit(nightly, run_id) for run_id in ("nightly-1", "nightly-2")]
        ends.append(at_once.submit(words.ended, "run", "words.yaml", "--date", DAYS["by-hand"]))
        for end in ends:
            end.result()
    runs = words.runs()
    assert [run["state"] for run in runs] == ["done"] * 3
    assert len({json.dumps(run["data"]) for run in runs}) == 3, "each has read its own day"
    pushed = sorted(int(run["pushed"]) for run in runs)
    assert pushed == sorted(words.versions()) == list(watcher.seen), "three, each higher"
    assert {name: files for name, [files] in watcher.seen.items()} == words.versions()
    assert len(words.live()["Trainer/model"]) == 3
    assert words.leftovers() == []


# All nodes of a run, one after another, as a scheduler would call them.
SCHEDULED = """
from pathlib import Path
from pairloom.components.trainer import progress
from pairloom.pipeline import compiled, runner
progress.remarks = lambda words: print(words, flush=True)
words = compiled.read_compiled(Path("words.json"))
compiled.hold_to(words, "nightly")
runner.run_nodes(words.for_run("nightly"), lambda e: print(e.node, e.state, flush=True))
"""


@pytest.fixture
def same(tmp_path):
    """A recipe whose runs all read the same."""
    made = WordsRun(tmp_path / "words")
    made.ended("compile", "words.yaml", "-o", "words.json")
    return made


@contextlib.contextmanager
def two_at_the_same_training(words):
    """A local run that stands still in its training, and a scheduled one that waits for it."""
    local = words.start("run", "words.yaml")
    scheduled = None
    try:
        while not words.at_work("Trainer"):
            assert local.poll() is None, words.log()
            time.sleep(0.01)
        local.send_signal(signal.SIGSTOP)
        command = [sys.executable, "-c", SCHEDULED]
        scheduled = subprocess.Popen(
            command, cwd=words.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        told = []
        for line in scheduled.stdout:
            told.append(line.strip())
            if "waiting for" in line:
                break
        assert "Transform cached" in told, "it has read the same"
        assert f"waiting for process {local.pid} on " in told[-1], told
        yield local, scheduled
    finally:
        for process in (local, scheduled):
            if process and process.poll() is None:
                process.kill()
                process.communicate()


def test_of_two_runs_that_train_the_same_the_second_waits_and_each_pushes(same):
    with Watcher(same) as watcher, two_at_the_same_training(same) as (local, scheduled):
        local.send_signal(signal.SIGCONT)
        told, _ = scheduled.communicate(timeout=LONGEST)
        local.communicate(timeout=LONGEST)
    assert (local.returncode, scheduled.returncode) == (0, 0), same.log()
    assert "Trainer done" in told and "Pusher done" in told
    runs = same.runs()
    assert [run["state"] for run in runs] == ["done"] * 2
    assert runs[0]["scores"] == runs[1]["scores"], "one training served both"
    pushed = sorted(int(run["pushed"]) for run in runs)
    assert pushed == sorted(same.versions()) == list(watcher.seen), "two, the second higher"
    assert len(set(pushed)) == 2
    assert len(list(Path(same.folder.checkpoints).iterdir())) == 1
    assert same.leftovers() == []


def test_who_waits_for_a_training_that_is_killed_goes_on_with_it(same):
    with Watcher(same) as watcher, two_at_the_same_training(same) as (local, scheduled):
        os.killpg(local.pid, signal.SIGKILL)
        local.communicate()
        told, _ = scheduled.communicate(timeout=LONGEST)
    assert scheduled.returncode == 0 and "Trainer done" in told
    assert [run["state"] for run in same.runs()] == ["interrupted", "done"]
    [version] = same.versions()
    assert list(watcher.seen) == [version]
    assert len(list(Path(same.folder.checkpoints).iterdir())) == 1
