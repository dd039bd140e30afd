"""A schedule that overlaps itself: runs of one recipe side by side, which all end and all push."""

import json
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
from pairloom.pipeline import compiled, errors, runner
words = compiled.read_compiled(Path("words.json"))
compiled.hold_to(words, "nightly")
try:
    runner.run_nodes(words.for_run("nightly"), lambda e: print(e.node, e.state, flush=True))
except errors.UserError as error:
    print(error)
"""


def test_the_same_training_is_not_done_twice_at_once_and_serves_both_runs(tmp_path):
    words = WordsRun(tmp_path / "words")
    words.ended("compile", "words.yaml", "-o", "words.json")

    def scheduled():
        command = [sys.executable, "-c", SCHEDULED]
        told = subprocess.run(command, cwd=words.path, stdout=subprocess.PIPE, text=True)
        return told.stdout.splitlines()

    with Watcher(words) as watcher:
        local = words.start("run", "words.yaml")
        try:
            while not words.at_work("Trainer"):
                assert local.poll() is None
                time.sleep(0.01)
            local.send_signal(signal.SIGSTOP)
            *before, failed, why = scheduled()
            assert "Transform cached" in before and failed == "Trainer failed"
            assert f"The same training is at work already, process {local.pid} on " in why
        finally:
            local.send_signal(signal.SIGCONT)
            local.communicate(timeout=LONGEST)
        assert local.returncode == 0
        again = [line for line in scheduled() if not line.endswith("running")]
    assert {"Trainer cached", "Evaluator cached", "Pusher cached", "Report cached"} <= {*again}
    assert {run["state"] for run in words.runs()} == {"done"}
    [version] = words.versions()
    assert [run["pushed"] for run in words.runs()] == [str(version)] * 2
    assert list(watcher.seen) == [version] and words.leftovers() == []
