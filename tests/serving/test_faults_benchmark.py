"""The benchmark of swaps and kills: would it see a fault?"""

import importlib.util
import shutil
from pathlib import Path

import pytest

from pairloom.serving.answers import Answer, VersionStatus

FILE = Path(__file__).parents[2] / "benchmarks" / "faults.py"


@pytest.fixture(scope="module")
def faults():
    spec = importlib.util.spec_from_file_location("faults", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_answer_tells_its_version(faults, saved_model, tmp_path):
    expected = faults.offline(saved_model, ["hi", "there"])
    assert expected["hi"].text == "1:HI"
    for version in (1, 10):
        folder = tmp_path / str(version)
        shutil.copytree(saved_model, folder)
        faults.add_number(folder, version)
        answers = faults.offline(folder, ["hi", "there"])
        assert {faults.version_of(answers[text], expected[text]) for text in answers} == {version}
        assert faults.version_of(answers["hi"], expected["there"]) == 0
    assert faults.version_of(expected["hi"], expected["hi"]) == 0
    assert faults.version_of(Answer("1:HI", 3000.5), expected["hi"]) == 0


def test_a_client_that_dies_is_counted(faults):
    findings = faults.Findings()
    findings.thread(lambda: 1 / 0).join()
    assert list(findings.counts) == ["a client died: ZeroDivisionError('division by zero')"]


def test_the_versions_states_are_looked_at(faults):
    good = [VersionStatus(10, "AVAILABLE", ""), VersionStatus(6, "END", "cannot be read")]
    assert faults.wrong_states(good) == []
    for bad in (
        [VersionStatus(10, "LOADING", ""), good[1]],
        good[1:],
        good[:1],
        [good[0], VersionStatus(6, "AVAILABLE", "")],
        [good[0], VersionStatus(6, "END", "")],
    ):
        assert len(faults.wrong_states(bad)) == 1


def test_versions_are_pushed_evenly_over_the_whole_time(faults):
    due = [faults.versions_due(second, 120) for second in range(121)]
    assert [due.index(version) for version in range(1, 11)] == list(range(0, 120, 12))
    assert due[-1] == faults.VERSIONS
    # In the last minute, between whose quarters the memory is compared, too.
    assert due[105] - due[75] >= 2


@pytest.mark.parametrize("leak", [0, 15])
def test_a_leak_of_some_megabytes_a_swap_is_seen(faults, leak):
    def megabytes(second):
        # The next version is there for four seconds before the last one goes.
        swap = 100 if second % 12 < 4 else 0
        return 1000 + leak * faults.versions_due(second, 120) + swap

    before, after = faults.quarters([megabytes(second) for second in range(60, 120)])
    assert (after > faults.GROWTH * before) == bool(leak)


def test_a_short_run_has_quarters_too(faults):
    assert faults.quarters([5.0]) == (5.0, 5.0)
    assert faults.quarters([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0]) == (1.0, 3.0)
