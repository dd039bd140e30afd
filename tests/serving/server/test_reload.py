"""A running server gets another config, by request or by file."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf import text_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tensorflow_serving.apis import model_management_pb2, model_service_pb2_grpc
from tensorflow_serving.config import model_server_config_pb2

from pairloom.serving import Client
from pairloom.serving.client import ClientError, ModelNotFound
from pairloom.serving.server import ModelServer, ServerOptions, ServingError


def config(*models):
    """`(name, base_path, "specific versions", {label: version})` each."""
    entries = []
    for name, base_path, versions, labels in models:
        policy = "".join(f"versions: {version} " for version in versions)
        marks = "".join(
            f'version_labels {{ key: "{label}" value: {version} }} '
            for label, version in labels.items()
        )
        entries.append(
            f'config {{ name: "{name}" base_path: "{base_path}" model_platform: "tensorflow" '
            f"model_version_policy {{ specific {{ {policy} }} }} {marks} }}"
        )
    return f"model_config_list {{ {' '.join(entries)} }}"


@pytest.fixture
def paths(tmp_path, saved_models):
    for name in ("one", "two"):
        for version in (1, 2):
            shutil.copytree(saved_models[version], tmp_path / name / str(version))
    return tmp_path


@pytest.fixture
def server_of(paths):
    started = []

    def start(text, **options):
        file = paths / "models.config"
        file.write_text(text)
        usual = {"port": 0, "rest_api_port": 0, "file_system_poll_wait_seconds": 0.1}
        server = ModelServer(ServerOptions(model_config_file=str(file), **usual, **options))
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.stop(5)


def reload(server, text):
    request = model_management_pb2.ReloadConfigRequest()
    text_format.Parse(text, request.config)
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = model_service_pb2_grpc.ModelServiceStub(channel)
        return stub.HandleReloadConfigRequest(request, timeout=60)


def answer(server, model, **choice):
    with Client(f"127.0.0.1:{server.port}", model, **choice) as client:
        return client.predict(["hi"])[0].text


def test_the_log_tells_of_every_config_by_request(server_of, paths, caplog):
    caplog.set_level("INFO", "pairloom.serving")
    server = server_of(config(("one", paths / "one", [1], {})))
    reload(server, config(("two", paths / "two", [1, 2], {"stable": 1, "canary": 2})))
    assert "one is in the config no more." in caplog.messages
    assert "Serving by request: two (canary 2, stable 1)." in caplog.messages
    with pytest.raises(grpc.RpcError):
        reload(server, config(("two", paths / "two", [1], {"stable": 9})))
    assert any(
        message.startswith("Serving by request, but for this: ") and "9" in message
        for message in caplog.messages
    )


def test_models_come_and_go_by_request(server_of, paths):
    server = server_of(config(("one", paths / "one", [1], {})))
    assert answer(server, "one") == "1:HI"
    response = reload(server, config(("two", paths / "two", [2], {})))
    assert response.status.error_code == 0
    assert answer(server, "two") == "2:HI"
    with pytest.raises(ModelNotFound):
        answer(server, "one")
    reload(server, config(("one", paths / "one", [2], {}), ("two", paths / "two", [1], {})))
    assert (answer(server, "one"), answer(server, "two")) == ("2:HI", "1:HI")


def test_a_new_base_path_is_served_from_even_under_the_same_number(server_of, paths, saved_models):
    shutil.rmtree(paths / "two" / "1")
    shutil.copytree(saved_models[3], paths / "two" / "1")
    server = server_of(config(("m", paths / "one", [1], {})))
    assert answer(server, "m") == "1:HI"
    reload(server, config(("m", paths / "two", [1], {})))
    assert answer(server, "m") == "3:HI"


def test_a_server_of_nothing_is_not_healthy(server_of, paths):
    server = server_of(config(("one", paths / "one", [1], {})))
    states = health_pb2.HealthCheckResponse
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        assert check(health_pb2.HealthCheckRequest(), timeout=10).status == states.SERVING
        reload(server, config())
        assert check(health_pb2.HealthCheckRequest(), timeout=10).status == states.NOT_SERVING


def test_labels_move_to_served_versions_only(server_of, paths):
    def labelled(versions, **labels):
        return config(("m", paths / "one", versions, labels))

    server = server_of(labelled([1], stable=1))
    with pytest.raises(grpc.RpcError, match="not currently available") as caught:
        reload(server, labelled([1], stable=2))
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert answer(server, "m", label="stable") == "1:HI"
    reload(server, labelled([1, 2], stable=1))
    reload(server, labelled([1, 2], stable=2))
    assert answer(server, "m", label="stable") == "2:HI"


def test_a_server_does_not_start_with_a_label_of_no_version(server_of, paths):
    text = config(("m", paths / "one", [1], {"new": 9}))
    with pytest.raises(ServingError, match="assign label to version 9 of model m, which is not"):
        server_of(text)
    server_of(text, allow_version_labels_for_unavailable_models=True)


def test_a_label_may_come_first_when_that_is_allowed(server_of, paths):
    text = config(("m", paths / "one", [1], {"new": 9}))
    server = server_of(
        config(("m", paths / "one", [1], {})), allow_version_labels_for_unavailable_models=True
    )
    reload(server, text)
    with pytest.raises(ModelNotFound):
        answer(server, "m", label="new")


@pytest.mark.parametrize("text", ["", "custom_model_config {}"])
def test_a_config_that_lists_no_models_is_refused_in_tf_servings_words(server_of, paths, text):
    server = server_of(config(("one", paths / "one", [1], {})))
    with pytest.raises(grpc.RpcError) as caught:
        reload(server, text)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == (
        "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList "
        "is currently supported"
    )
    assert answer(server, "one") == "1:HI"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('model_config_list { config { name: "m" } }', grpc.StatusCode.INVALID_ARGUMENT),
        (
            'model_config_list { config { name: "m" base_path: "m" model_type: TENSORFLOW } }',
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            r'model_config_list { config { name: "m" base_path: "/\000" model_type: TENSORFLOW } }',
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            'model_config_list { config { name: "m" base_path: "/gone" model_type: TENSORFLOW } }',
            grpc.StatusCode.UNKNOWN,
        ),
    ],
)
def test_a_config_that_cannot_be_served_is_an_error(server_of, paths, text, code):
    server = server_of(config(("one", paths / "one", [1], {})))
    with pytest.raises(grpc.RpcError) as caught:
        reload(server, text)
    assert caught.value.code() == code


def test_a_changed_file_is_noticed_and_a_broken_one_changes_nothing(server_of, paths, caplog):
    server = server_of(
        config(("one", paths / "one", [1], {})), model_config_file_poll_wait_seconds=0.1
    )
    file = paths / "models.config"
    file.write_text("model_config_list { config { name:")
    _until(lambda: "Invalid protobuf file" in caplog.text)
    assert answer(server, "one") == "1:HI"
    text = config(("one", paths / "one", [2], {}))
    text_format.Parse(text, model_server_config_pb2.ModelServerConfig())
    file.write_text(text)
    _until(lambda: answer(server, "one") == "2:HI")


def test_a_file_that_changes_during_the_first_load_holds(server_of, paths, monkeypatch):
    from pairloom.serving.server import saved_model

    class Slow(saved_model.LoadedModel):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            file.write_text(then)

    monkeypatch.setattr(saved_model, "LoadedModel", Slow)
    file, then = paths / "models.config", config(("one", paths / "one", [2], {}))
    first = config(("one", paths / "one", [1], {}))
    server = server_of(first, model_config_file_poll_wait_seconds=0.1)
    _until(lambda: answer(server, "one") == "2:HI")
    then = "broken"
    server = server_of(first, model_config_file_poll_wait_seconds=0.1)
    assert answer(server, "one") == "1:HI"


def _until(true):
    until = time.monotonic() + 15
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_label_is_given_as_soon_as_its_version_is_there(server_of, paths, saved_models):
    text = config(("m", paths / "one", [1], {}))
    server = server_of(text, model_config_file_poll_wait_seconds=0.1)
    (paths / "models.config").write_text(config(("m", paths / "one", [1, 3], {"new": 3})))
    time.sleep(0.5)
    shutil.copytree(saved_models[3], paths / "one" / "3")

    def labelled():
        try:
            return answer(server, "m", label="new") == "3:HI"
        except ClientError:
            return False

    _until(labelled)


def test_what_serves_goes_on_when_its_new_place_is_broken(server_of, paths):
    server = server_of(config(("m", paths / "one", [1], {})))
    (paths / "two" / "1" / "saved_model.pb").write_bytes(b"broken")
    reload(server, config(("m", paths / "two", [1], {})))
    assert answer(server, "m") == "1:HI"
    shutil.rmtree(paths / "two" / "1")
    time.sleep(0.5)
    assert answer(server, "m") == "1:HI"


def test_of_two_configurations_at_once_one_holds_as_a_whole(server_of, paths):
    server = server_of(config(("m", paths / "one", [1, 2], {"stable": 1})))
    for _ in range(3):
        wanted = [config(("m", paths / "one", [1, 2], {"stable": v})) for v in (1, 2)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda text: reload(server, text), wanted))
        registry = server._registry
        assert registry.labels.of("m") == registry.models["m"].labels
