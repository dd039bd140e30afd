"""From one configuration to the next: nothing that answers stops before its time."""

import shutil
import time

import pytest
from tensorflow_serving.config import model_server_config_pb2

from pairloom.serving.server.configuring import ConfigFile, Configurer
from pairloom.serving.server.errors import Code, RequestError, ServingError
from pairloom.serving.server.labels import MayWait
from pairloom.serving.server.model_config import ConfiguredModel, VersionPolicy
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.version_record import Retries


class Model:
    def close(self):
        pass


@pytest.fixture
def model(tmp_path):
    """A model of these versions, all of which are on disk, and labels."""

    def make(name, *versions, **labels):
        for version in versions:
            (tmp_path / name / str(version)).mkdir(parents=True, exist_ok=True)
        policy = VersionPolicy("specific", specific=versions)
        return ConfiguredModel(name, tmp_path / name, policy, labels)

    return make


def started(*models, load=lambda folder: Model(), may_wait=MayWait.NONE, **settings):
    settings = {"quiet_seconds": 0, "warm": False} | settings
    registry = Registry(models, load, **settings)
    registry.poll()
    return registry, Configurer(registry, may_wait)


def labelled(registry, label="stable"):
    with registry.lease("m", label=label) as servable:
        return servable.version


def test_a_label_answers_all_through_a_reload_in_which_another_model_fails(model):
    heard = []

    def load(folder):
        if folder.parent.name == "other":
            heard.append((registry.available("m"), labelled(registry)))
            raise ValueError("broken")
        return Model()

    registry, configurer = started(model("m", 1, stable=1), load=load)
    with pytest.raises(
        RequestError, match=r"1 servable.*{other due to version 1: broken}"
    ) as error:
        configurer.configure([model("m", 2, stable=2), model("other", 1, stable=1)])
    assert error.value.code == Code.UNKNOWN
    assert heard == [([2, 1], 1)]
    assert labelled(registry) == 2
    assert registry.available("m") == [2]
    assert registry.labels.of("other") == {}


@pytest.mark.parametrize("labels", [{"stable": 1}, {"stable": 9}, {"stable": 2, "new": 9}])
def test_a_label_that_is_refused_still_answers_as_before(model, labels):
    registry, configurer = started(model("m", 1, stable=1), model("other", 1))
    wanted = model("m", 2, **labels), model("other", 1, best=1)
    with pytest.raises(RequestError, match="not currently available") as error:
        configurer.configure(wanted)
    assert error.value.code == Code.FAILED_PRECONDITION
    for _ in range(2):
        assert labelled(registry) == 1
        assert registry.available("m") == [2, 1]
        registry.poll()
    assert registry.labels.of("other") == {"best": 1}
    configurer.configure([model("m", 2, stable=2)])
    assert labelled(registry) == 2
    assert registry.available("m") == [2]


@pytest.mark.parametrize(
    ("may_wait", "labels", "taken"),
    [
        (MayWait.NONE, {"stable": 2, "new": 9}, False),
        (MayWait.NEW, {"stable": 2, "new": 9}, True),
        (MayWait.NEW, {"stable": 9}, False),
        (MayWait.ANY, {"stable": 9}, True),
    ],
)
def test_flags_say_which_labels_may_come_before_their_version(model, may_wait, labels, taken):
    registry, configurer = started(model("m", 1, 2, stable=1), may_wait=may_wait)
    try:
        configurer.configure([model("m", 1, 2, **labels)])
    except RequestError:
        assert not taken
    assert registry.labels.of("m") == (labels if taken else {"stable": 1})


def test_the_first_configuration_s_labels_are_checked_too(model):
    started(model("m", 1, stable=1))[1].check_start()
    started(model("m", 1, stable=9), may_wait=MayWait.NEW)[1].check_start()
    with pytest.raises(ServingError, match="version 9 of model m.*--allow_version_labels_for_un"):
        started(model("m", 1, stable=9))[1].check_start()


def test_a_label_s_version_that_is_still_written_is_waited_for_at_the_start(model):
    wanted = model("m", 1, stable=1)
    registry, configurer = started(wanted, quiet_seconds=0.5)
    assert registry.available("m") == []
    configurer.check_start()
    assert labelled(registry) == 1


def test_a_deleted_version_goes_even_if_a_refused_label_keeps_it(model, tmp_path):
    registry, configurer = started(model("m", 1, stable=1))
    with pytest.raises(RequestError):
        configurer.configure([model("m", 2, stable=9)])
    shutil.rmtree(tmp_path / "m" / "1")
    registry.poll()
    assert registry.available("m") == [2]


def test_labels_do_not_change_which_versions_a_policy_serves(model):
    wanted = [model("m", 1, 2, stable=1)]
    registry, configurer = started(*wanted)
    configurer.configure([model("m", 1, 2, stable=2)])
    configurer.configure([model("m", 2)])
    assert registry.available("m") == [2]
    with pytest.raises(RequestError, match="label: stable"):
        registry.lease("m", label="stable")


def test_a_model_that_only_its_labels_keep_is_missing(model, tmp_path):
    registry, configurer = started(model("m", 1, stable=1))
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="{m due to no version}"):
        configurer.configure([ConfiguredModel("m", tmp_path / "empty")])
    assert labelled(registry) == 1


def test_a_model_that_goes_is_announced(model):
    heard = []
    registry, configurer = started(
        model("m", 1), announce=lambda name, versions: heard.append((name, versions))
    )
    configurer.configure([model("other", 1)])
    configurer.configure([])
    assert heard == [("m", [1]), ("m", []), ("other", [1]), ("other", [])]
    assert registry.models == {}


def test_a_reload_waits_no_longer_than_its_deadline_for_a_version_that_is_written(model):
    loads = []

    def load(folder):
        loads.append(folder)
        (folder / str(len(loads))).touch()
        return Model()

    registry, configurer = started(load=load, quiet_seconds=1e-9)
    started_at = time.monotonic()
    with pytest.raises(RequestError, match="did not become available"):
        configurer.configure([model("m", 1)], seconds=0.5)
    assert 0.4 < time.monotonic() - started_at < 5
    with registry._polling, pytest.raises(RequestError) as error:
        configurer.configure([model("m", 1)], seconds=0.1)
    assert error.value.code == Code.DEADLINE_EXCEEDED


def test_the_file_holds_again_after_a_request(model, tmp_path):
    path = tmp_path / "models.config"
    path.write_text(
        f"""model_config_list {{ config {{
            name: "m" base_path: "{tmp_path / "m"}" model_platform: "tensorflow"
            model_version_policy {{ specific {{ versions: 1 }} }}
        }} }}"""
    )
    registry, configurer = started(model("m", 1))
    loaded = registry._records["m"][1].servable
    file = ConfigFile(path, configurer)
    file.poll()
    assert registry._records["m"][1].servable is loaded
    configurer.configure([model("m", 2)])
    assert registry.available("m") == [2]
    file.poll()
    assert registry.available("m") == [1]
    with pytest.raises(RequestError):
        configurer.configure([model("m", 2, stable=9)])
    file.poll()
    assert registry.available("m") == [1]


def config(*models, platform="tensorflow"):
    message = model_server_config_pb2.ModelServerConfig()
    message.model_config_list.SetInParent()
    for name, base_path in models:
        entry = message.model_config_list.config.add(name=name, base_path=str(base_path))
        entry.model_platform = platform
    return message


def test_a_request_serves_what_it_asks_for(model, tmp_path):
    registry, configurer = started(model("m", 1))
    model("other", 3)
    configurer.reload(config(("m", tmp_path / "m"), ("other", tmp_path / "other")), 10)
    assert registry.available("m") == [1] and registry.available("other") == [3]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            model_server_config_pb2.ModelServerConfig(),
            "Only ModelConfigList is currently supported",
        ),
        (config(("m", "/m"), platform="sklearn"), "Illegal to change a model's platform"),
        (config(("m", "/m"), ("m", "/m")), "names a model more than once"),
        (config(("n", "/elsewhere")), r"must lie in .* \(--model_root\)"),
    ],
)
def test_a_request_that_cannot_be_is_invalid_and_changes_nothing(model, tmp_path, asked, message):
    registry, _ = started(model("m", 1))
    with pytest.raises(RequestError, match=message) as error:
        Configurer(registry, root=str(tmp_path)).reload(asked, 10)
    assert error.value.code == Code.INVALID_ARGUMENT
    assert registry.available("m") == [1]


def test_models_that_are_given_up_end_the_start(model):
    def load(folder):
        raise ValueError("broken")

    _, configurer = started(model("m", 1), load=load, retries=Retries(most=0))
    with pytest.raises(ServingError, match="broken.*leave --max_num_load_retries out"):
        configurer.check_start()
