import json
import signal
import subprocess
import sys
import time

import pytest
import recipe_runs
from recipe_runs import Wanted, figure, markdown, run_missing, same_settings

from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import told_recipe

DIGITS = Wanted("digits", "reconstruct", ("training.epochs=3",))

# Stands for `pairloom`: `runs` lists what a file holds, `run` waits there until it is told to stop.
STAND_IN = """#!{python}
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[sys.argv.index("--runs-dir") + 1])
if sys.argv[1] == "runs":
    print((folder / "listed.json").read_text())
else:
    def stop(number, frame):
        time.sleep(0.5)
        (folder / "in-order").touch()
        sys.exit(143)
    signal.signal(signal.SIGTERM, stop)
    (folder / "started").touch()
    time.sleep(60)
"""


def told(wanted, state="done", **scores):
    """A run as `pairloom runs --json` tells it."""
    settings = json.loads(json.dumps(told_recipe(load_recipe(wanted.recipe, wanted.settings))))
    return {"state": state, "settings": settings, "scores": scores}


def recipe_of(wanted):
    return load_recipe(wanted.recipe, wanted.settings)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    script = tmp_path / "pairloom"
    script.write_text(STAND_IN.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setattr(recipe_runs, "PAIRLOOM", str(script))
    return tmp_path


def test_a_run_with_the_same_settings_is_taken_the_newest_of_them():
    runs = [told(DIGITS, mse=1.0), told(DIGITS, mse=2.0)]
    assert same_settings(runs, recipe_of(DIGITS)) == runs[1]


@pytest.mark.parametrize("state", ["running", "failed", "interrupted"])
def test_a_run_that_is_not_done_is_not_taken(state):
    assert same_settings([told(DIGITS, state)], recipe_of(DIGITS)) is None


def test_a_run_with_another_setting_is_not_taken():
    other = Wanted("digits", "reconstruct", ("training.epochs=4",))
    assert same_settings([told(other)], recipe_of(DIGITS)) is None


def test_runs_have_a_name_of_their_own_unless_one_is_given():
    assert recipe_of(DIGITS).name == "benchmark-reconstruct"
    assert recipe_of(Wanted("", "reconstruct", ("name=mine",))).name == "mine"


def test_a_recipe_file_names_its_runs():
    assert "name=benchmark-mine" in Wanted("", "/somewhere/mine.yaml").settings


def test_no_run_is_judged_by_another():
    assert recipe_of(DIGITS).evaluation.compare is None


def test_what_is_done_is_not_run_again(stand_in):
    (stand_in / "listed.json").write_text(json.dumps([told(DIGITS, mse=1.0)]))
    assert run_missing({"a": DIGITS}, str(stand_in))["a"]["scores"] == {"mse": 1.0}
    assert not (stand_in / "started").exists()


def test_a_wrong_setting_is_told_before_anything_runs(stand_in):
    wrong = Wanted("", "reconstruct", ("training.epoch=3",))
    with pytest.raises(SystemExit, match="did you mean `epochs`"):
        run_missing({"a": DIGITS, "b": wrong}, str(stand_in))
    assert not (stand_in / "started").exists()


def test_a_stopped_benchmark_waits_for_its_run_and_gives_what_is_done(stand_in):
    other = Wanted("", "reconstruct", ("training.epochs=4",))
    (stand_in / "listed.json").write_text(json.dumps([told(DIGITS, mse=1.0)]))
    script = (
        "import recipe_runs; from recipe_runs import Wanted;"
        f"recipe_runs.PAIRLOOM = {recipe_runs.PAIRLOOM!r};"
        f"wanted = {{'a': {other!r}, 'b': {DIGITS!r}}};"
        f"print([*recipe_runs.run_missing(wanted, {str(stand_in)!r})])"
    )
    folder = recipe_runs.__file__.rpartition("/")[0]
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (stand_in / "started").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert (stand_in / "in-order").exists()
    assert output.splitlines()[-1] == "['b']" and "Stopped." in output


def test_a_table_has_its_head_first():
    assert markdown([("a", "b"), ("1", "2")]) == "| a | b |\n|---|---|\n| 1 | 2 |"


def test_what_is_not_measured_has_no_figure():
    assert [figure(45.04), figure(45.04, 2), figure(0.0), figure(None)] == [
        "45.0",
        "45.04",
        "0.0",
        "–",
    ]
