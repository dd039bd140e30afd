"""Each node of a real pipeline killed in mid-work with -9: nothing is lost, and nothing doubled."""

import json
import random
import sys
from pathlib import Path

import pytest

pytest.importorskip("tfx")

sys.path.append(str(Path(__file__).parent))
from words_run import NODES, Watcher, WordsRun

pytestmark = pytest.mark.minutes

# Seconds that these are killed in at the latest; the others take a tenth of a second in all.
WITHIN = {"StatisticsGen": 3.0, "Transform": 3.0, "Trainer": 0.5, "Evaluator": 3.0, "Report": 0.5}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    run = WordsRun(tmp_path_factory.mktemp("undisturbed") / "words")
    run.ended("run", "words.yaml")
    return run


@pytest.fixture
def killed(tmp_path):
    return WordsRun(tmp_path / "words")


@pytest.fixture
def delay():
    draw = random.Random(7)
    return lambda node: draw.uniform(0, WITHIN.get(node, 0))


def check_the_same(killed, undisturbed, watcher):
    [told] = undisturbed.runs()
    last = killed.runs()[-1]
    assert (last["state"], last["failed_node"]) == ("done", "")
    assert (last["scores"], last["data"]) == (told["scores"], told["data"])
    assert killed.made() == undisturbed.made()
    assert killed.leftovers() == undisturbed.leftovers() == []
    [(version, files)] = killed.versions().items()
    [complete] = undisturbed.versions().values()
    assert last["pushed"] == str(version)
    assert {name for name, _ in files} == {name for name, _ in complete}
    assert watcher.seen == {version: {files}}, "a server never sees anything but all of it"


def test_nodes_that_are_killed_and_tried_again_end_as_if_nothing_was(killed, undisturbed, delay):
    killed.ended("compile", "words.yaml", "-o", "words.json")

    def command(node):
        return ["node", "words.json", node, "--run-id", "nightly"]

    with Watcher(killed) as watcher:
        for node in NODES:
            killed.kill_when(command(node), lambda n=node: killed.at_work(n), delay(node))
            if node == "Pusher":
                assert not killed.has_pushed()
                killed.kill_when(command(node), killed.has_pushed)
            told = json.loads(killed.ended(*command(node)))
            assert told["state"] == "done", told
    assert [run["run"] for run in killed.runs()] == ["nightly"]
    check_the_same(killed, undisturbed, watcher)


def test_a_run_that_is_killed_at_each_node_ends_as_if_nothing_was(killed, undisturbed, delay):
    command = ["run", "words.yaml"]
    with Watcher(killed) as watcher:
        for node in NODES:
            killed.kill_when(command, lambda n=node: killed.at_work(n), delay(node))
            if node == "Pusher":
                killed.kill_when(command, killed.has_pushed)
        killed.ended(*command)
    states = [run["state"] for run in killed.runs()]
    assert states == ["interrupted"] * (len(NODES) + 1) + ["done"]
    check_the_same(killed, undisturbed, watcher)
