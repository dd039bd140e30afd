"""A make target that finds nothing to run its tests with must not be green."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ON_ITS_OWN = ("test-airflow", "test-gcs", "test-kubernetes", "test-recipes", "test-weather")
IN_A_FIXTURE = """
@pytest.fixture
def cluster():
    pytest.skip("no cluster")
def test_it(cluster): pass
"""
SKIPPED = {
    "in a fixture": IN_A_FIXTURE,
    "by a mark": "@pytest.mark.skipif(True, reason='no cluster')\ndef test_it(): pass",
    "by an import": "pytest.importorskip('no_cluster')\ndef test_it(): pass",
    "as a module": "pytest.skip('no cluster', allow_module_level=True)",
}


def run(tmp_path, text, **variables):
    """Runs a file of tests with tests/conftest.py; the exit code and what is said."""
    file = tmp_path / "test_one.py"
    file.write_text(f"import pytest\n{text}\n")
    plain = {name: value for name, value in os.environ.items() if name != "PAIRLOOM_REQUIRED"}
    words = ["-q", "-rs", "-c", os.devnull, f"--rootdir={tmp_path}", "-p", "conftest"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-p", "no:cacheprovider", str(file)],
        env={
            **plain,
            "PYTHONPATH": str(ROOT / "tests"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **variables,
        },
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("text", SKIPPED.values(), ids=SKIPPED)
def test_what_is_missing_is_skipped_unless_it_is_required(tmp_path, text):
    also = f"{text}\n" + ("" if "allow_module" in text else "def test_another(): pass")
    code, told = run(tmp_path, also)
    assert code in (0, 5) and "1 skipped" in told, told
    assert run(tmp_path, also, PAIRLOOM_REQUIRED="0")[0] == code
    code, told = run(tmp_path, also, PAIRLOOM_REQUIRED="1")
    assert code in (1, 2) and "skipped" not in told.splitlines()[-1], told
    assert "required, not to be skipped: " in told and re.search("no.cluster", told)


def test_what_is_expected_to_fail_may(tmp_path):
    text = "@pytest.mark.xfail\ndef test_it(): assert False"
    code, told = run(tmp_path, text, PAIRLOOM_REQUIRED="1")
    assert code == 0 and "1 xfailed" in told


def test_it_is_required_by_the_targets_that_try_it_and_by_nothing_else():
    makefile = (ROOT / "Makefile").read_text()
    recipes = dict(re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    told = {name for name, recipe in recipes.items() if "$(REQUIRED)" in recipe}
    assert told == set(ON_ITS_OWN)
    assert re.search(r"^REQUIRED = PAIRLOOM_REQUIRED=1$", makefile, re.MULTILINE)
    assert "PAIRLOOM_REQUIRED" not in (ROOT / ".ci" / "run").read_text()
