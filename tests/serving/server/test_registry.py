"""Versions come, fail, go; with real folders and real models."""

import logging
import os
import shutil
import time
import weakref

import numpy as np
import pytest

from pairloom.serving.server import ServerOptions
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.model_config import ConfiguredModel, VersionPolicy
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.servable import AnswerSettings
from pairloom.serving.server.version_record import Retries, State

QUIET = 0.2


@pytest.fixture
def registry_of(tmp_path):
    made = []

    def make(policy=None, **settings):
        model = ConfiguredModel("tiny", tmp_path / "tiny", policy or VersionPolicy())
        registry = Registry([model], **({"quiet_seconds": 0, "warm": False} | settings))
        made.append(registry)
        return registry

    (tmp_path / "tiny").mkdir(exist_ok=True)
    yield make
    for registry in made:
        registry.close()


@pytest.fixture
def push(tmp_path, saved_models):
    def push(version):
        shutil.copytree(saved_models[version], tmp_path / "tiny" / str(version))

    return push


def answer(registry, **choice):
    with registry.lease("tiny", **choice) as servable:
        inputs = {"source": np.array([b"a"], np.object_)}
        return servable.model.run("serving_default", inputs)["target"][0].decode()


def states(registry):
    return {version: (state, code) for version, state, code, _ in registry.status("tiny")}


def test_a_new_version_replaces_the_old_one(registry_of, push):
    registry = registry_of()
    push(1)
    registry.poll()
    assert answer(registry) == "1:A"
    push(2)
    registry.poll()
    assert answer(registry) == "2:A"
    assert states(registry) == {2: (State.AVAILABLE, Code.OK), 1: (State.END, Code.OK)}


def test_the_old_version_stays_until_its_last_request_is_done(registry_of, push, caplog):
    caplog.set_level(logging.INFO, "pairloom.serving")
    registry = registry_of()
    push(1)
    registry.poll()
    with registry.lease("tiny") as servable:
        push(2)
        registry.poll()
        assert states(registry)[1] == (State.UNLOADING, Code.OK)
        inputs = {"source": np.array([b"a"], np.object_)}
        assert servable.model.run("serving_default", inputs)["target"][0] == b"1:A"
        assert "Unloaded" not in caplog.text
    assert states(registry)[1] == (State.END, Code.OK)
    assert caplog.messages == ["Unloaded tiny version 1"]


def test_a_version_that_comes_back_outlives_the_requests_of_its_first_time(
    registry_of, push, tmp_path
):
    settings = AnswerSettings()
    registry = registry_of(answers=settings)
    push(1)
    registry.poll()
    with registry.lease("tiny"):
        push(2)
        registry.poll()
        shutil.rmtree(tmp_path / "tiny" / "2")
        registry.poll()
        assert states(registry)[1] == (State.AVAILABLE, Code.OK)
    assert states(registry)[1] == (State.AVAILABLE, Code.OK)
    assert answer(registry) == "1:A"
    assert f'model_path="{tmp_path / "tiny" / "1"}"'.encode() in settings.metrics.page()


def test_metrics_do_not_grow_with_every_push(registry_of, push, tmp_path):
    settings = AnswerSettings()

    def lines():
        return settings.metrics.page().count(b"\n")

    registry = registry_of(answers=settings)
    push(1)
    registry.poll()
    before = lines()
    broken = tmp_path / "tiny" / "9"
    broken.mkdir()
    registry.poll()
    assert f'model_path="{broken}"'.encode() in settings.metrics.page()
    broken.rmdir()
    push(2)
    registry.poll()
    assert states(registry).keys() == {1, 2}
    assert lines() == before


@pytest.mark.parametrize("damage", ["no graph", "half a graph", "no variables", "half of them"])
def test_a_broken_version_leaves_the_old_one_serving_and_is_tried_again(
    registry_of, push, tmp_path, saved_models, damage, caplog
):
    registry = registry_of()
    push(1)
    registry.poll()
    push(2)
    broken = tmp_path / "tiny" / "2"
    graph = broken / "saved_model.pb"
    data = broken / "variables" / "variables.data-00000-of-00001"
    if damage == "no graph":
        graph.unlink()
    elif damage == "half a graph":
        os.truncate(graph, graph.stat().st_size // 2)
    elif damage == "no variables":
        shutil.rmtree(broken / "variables")
    else:
        os.truncate(data, 1)
    registry.poll()
    assert answer(registry) == "1:A"
    state, code = states(registry)[2]
    assert state == State.END and code != Code.OK
    assert registry.status("tiny", 2)[0][3]
    assert "version 1 goes on serving" in caplog.text

    shutil.rmtree(broken)
    shutil.copytree(saved_models[2], broken)
    registry.poll()
    assert answer(registry) == "2:A"
    assert states(registry)[2] == (State.AVAILABLE, Code.OK)


def test_a_failed_version_that_does_not_change_is_tried_later_and_said_once(
    registry_of, tmp_path, caplog
):
    tries = []

    def load(folder):
        tries.append(folder)
        raise MemoryError("no room")

    (tmp_path / "tiny" / "1").mkdir()
    registry = registry_of(load=load)
    for _ in range(5):
        registry.poll()
    assert len(tries) == 1
    registry._records["tiny"][1].retry_at = time.monotonic()
    registry.poll()
    assert len(tries) == 2
    assert caplog.text.count("no room") == 1


@pytest.mark.parametrize("most", [0, 2])
def test_a_failed_version_is_tried_again_as_often_as_the_flags_say(registry_of, tmp_path, most):
    tries = []

    def load(folder):
        tries.append(folder)
        raise MemoryError("no room")

    (tmp_path / "tiny" / "1").mkdir()
    options = ServerOptions(max_num_load_retries=most, load_retry_interval_micros=-1)
    registry = registry_of(load=load, retries=Retries.of(options))
    for _ in range(5):
        registry.poll()
    assert len(tries) == 1 + most
    (tmp_path / "tiny" / "1" / "new").touch()
    registry.poll()
    assert len(tries) == 2 + most


def test_retries_wait_as_long_as_the_flags_say():
    assert [Retries().wait(failures) for failures in (1, 2, 3, 99)] == [1, 2, 4, 60]
    given = Retries.of(ServerOptions(load_retry_interval_micros=500_000))
    assert [given.wait(failures) for failures in (1, 2, 99)] == [0.5, 0.5, 0.5]


def test_a_version_that_loads_but_cannot_answer_is_not_served(registry_of, push):
    closed = []

    class Empty:
        signature_defs = {"serving_default": None}

        def inputs(self, signature):
            return {}

        def changes(self, signature):
            return False

        def run(self, signature, inputs, timeout):
            raise RequestError(Code.FAILED_PRECONDITION, "Could not find variable v.")

        def close(self):
            closed.append(self)

    registry = registry_of(
        load=lambda folder: Empty() if folder.name == "2" else LoadedModel(folder), warm=True
    )
    push(1)
    registry.poll()
    push(2)
    registry.poll()
    assert answer(registry) == "1:A"
    assert registry.status("tiny", 2) == [
        (2, State.END, Code.FAILED_PRECONDITION, "Could not find variable v.")
    ]
    assert len(closed) == 1


def test_a_broken_newest_version_is_passed_over_at_the_start(registry_of, push, tmp_path):
    push(1)
    (tmp_path / "tiny" / "2").mkdir()
    registry = registry_of()
    registry.poll()
    assert answer(registry) == "1:A"
    assert states(registry)[2][0] == State.END


def test_a_version_that_is_still_being_written_waits(registry_of, push):
    registry = registry_of(quiet_seconds=QUIET)
    push(1)
    assert registry.poll()
    assert registry.available("tiny") == []
    # Two looks that follow each other closely say nothing yet.
    assert registry.poll()
    assert states(registry)[1] == (State.START, Code.OK)
    time.sleep(QUIET + 0.05)
    assert not registry.poll()
    assert answer(registry) == "1:A"


def test_a_folder_that_changes_during_the_load_is_loaded_again(registry_of, push, tmp_path):
    loads = []

    def load(folder):
        if not loads:
            (folder / "late.txt").write_text("still copying")
        loads.append(folder)
        return LoadedModel(folder)

    push(1)
    registry = registry_of(load=load, quiet_seconds=QUIET)
    time.sleep(QUIET + 0.05)
    assert registry.poll()
    assert registry.available("tiny") == []
    time.sleep(QUIET + 0.05)
    registry.poll()
    assert answer(registry) == "1:A"
    assert len(loads) == 2


def test_an_unloaded_version_leaves_nothing_behind(registry_of, push):
    graphs = []

    def load(folder):
        model = LoadedModel(folder)
        graphs.append(weakref.ref(model._session.graph))
        return model

    registry = registry_of(load=load)
    push(1)
    registry.poll()
    push(2)
    registry.poll()
    assert graphs[0]() is None
    assert graphs[1]() is not None


def test_a_deleted_version_is_unloaded_and_the_one_before_comes_back(registry_of, push, tmp_path):
    registry = registry_of()
    push(1)
    push(3)
    registry.poll()
    assert answer(registry) == "3:A"
    shutil.rmtree(tmp_path / "tiny" / "3")
    registry.poll()
    assert answer(registry) == "1:A"
    shutil.rmtree(tmp_path / "tiny" / "1")
    registry.poll()
    assert registry.available("tiny") == []
    with pytest.raises(RequestError, match="Latest"):
        registry.lease("tiny")


def test_a_model_that_cannot_be_looked_for_holds_up_no_other(push, tmp_path, caplog, monkeypatch):
    push(1)
    models = [
        ConfiguredModel("nul", tmp_path / "\0"),
        ConfiguredModel("bug", tmp_path / "bug"),
        ConfiguredModel("tiny", tmp_path / "tiny"),
    ]
    registry = Registry(models, quiet_seconds=0, warm=False)
    find = registry._folders.of

    def of(model):
        if model.name == "bug":
            raise KeyError("a bug")
        return find(model)

    monkeypatch.setattr(registry._folders, "of", of)
    for _ in range(3):
        registry.poll()
    assert answer(registry) == "1:A"
    assert caplog.text.count("Looking for versions of bug failed") == 1
    assert caplog.text.count("Could not find base path") == 1
    registry.close()


def test_a_base_path_that_vanishes_changes_nothing(registry_of, push, tmp_path, caplog):
    registry = registry_of()
    push(1)
    registry.poll()
    (tmp_path / "tiny").rename(tmp_path / "away")
    registry.poll()
    registry.poll()
    assert answer(registry) == "1:A"
    assert caplog.text.count("Could not find base path") == 1


@pytest.mark.parametrize(
    ("policy", "served"),
    [
        (VersionPolicy("latest", latest=2), [3, 2]),
        (VersionPolicy("all"), [3, 2, 1]),
        (VersionPolicy("specific", specific=(1, 3)), [3, 1]),
    ],
)
def test_policies_decide_which_versions_are_served(registry_of, push, policy, served):
    for version in (1, 2, 3):
        push(version)
    registry = registry_of(policy)
    registry.poll()
    assert registry.available("tiny") == served
    assert answer(registry, version=served[-1]) == f"{served[-1]}:A"


def test_changes_are_announced_once(registry_of, push):
    heard = []
    registry = registry_of(announce=lambda name, versions: heard.append((name, versions)))
    registry.poll()
    push(1)
    registry.poll()
    registry.poll()
    push(2)
    registry.poll()
    assert heard == [("tiny", [1]), ("tiny", [2])]


def test_default_means_the_only_model_but_a_model_of_that_name_comes_first(tmp_path):
    one = Registry([ConfiguredModel("tiny", tmp_path)])
    two = Registry([ConfiguredModel("tiny", tmp_path), ConfiguredModel("other", tmp_path)])
    named = Registry([ConfiguredModel("default", tmp_path), ConfiguredModel("other", tmp_path)])
    assert one.real_name("default") == "tiny"
    assert two.real_name("default") == "default"
    assert named.real_name("default") == "default"
