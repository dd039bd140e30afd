"""A server among people who mean it harm, and pipes that nobody reads."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import grpc
import pytest
import tensorflow as tf
from tensorflow_serving.apis import (
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
)

from pairloom.serving import Client
from pairloom.serving.server import ModelServer, ServerOptions, ServingError
from pairloom.serving.server.errors import Code
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.version_record import State

TOKEN, ADMIN = "0123456789abcdef-token", "0123456789abcdef-admin"

SERVE = """
import argparse
from pairloom.serving.server import add_serve_arguments, options_from_arguments, serve
parser = argparse.ArgumentParser()
add_serve_arguments(parser)
serve(options_from_arguments(parser.parse_args()))
"""


def ask(server, path="/v1/models/tiny", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.fixture
def process(base_path):
    """`serve` in a process of its own, whose lines nobody reads after the first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    flags = [f"--model_base_path={base_path}", "--model_name=tiny", "--port=0"]
    flags += [f"--rest_api_port={port}", "--log_format=json"]
    started = subprocess.Popen(
        [sys.executable, "-c", SERVE, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Tests may be run under nohup, which a server would inherit.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    assert b"Serving tiny" in started.stdout.readline()
    yield started, port
    started.kill()
    started.communicate()


def test_lines_that_nobody_reads_stop_nothing(process):
    started, port = process
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    # A pipe holds 64 KB: some 250 lines.
    for _ in range(600):
        connection.request("GET", "/v1/models/tiny")
        assert connection.getresponse().read()
    connection.close()
    started.send_signal(signal.SIGTERM)
    assert started.wait(30) == 0


def test_a_terminal_that_closes_ends_the_server_as_it_should(process):
    started, _ = process
    started.send_signal(signal.SIGHUP)
    assert started.wait(30) == 0
    assert b"finishing the requests" in started.stdout.read()


def test_idle_connections_keep_nobody_out(start_server, base_path):
    server = start_server(base_path)
    with ExitStack() as stack:
        for _ in range(1200):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=10)
            stack.enter_context(one)
            one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        with Client(f"127.0.0.1:{server.port}", "tiny", timeout=20) as client:
            assert client.predict("a")[0].text == "1:A"
        assert ask(server)[0] == 200


def test_a_pipe_in_the_place_of_a_model_is_refused(start_server, base_path, saved_models, tmp_path):
    (base_path / "7").mkdir()
    os.mkfifo(base_path / "7" / "saved_model.pb")
    server = start_server(base_path)
    rows = {row[0]: row for row in server._registry.status("tiny")}
    assert rows[7][1] is State.END and "Expected files" in rows[7][3]
    assert rows[1][1] is State.AVAILABLE


@pytest.fixture
def hanging(monkeypatch, tmp_path):
    """Makes the versions of a folder load for ever, until the test is over."""
    release = tmp_path / "release"

    class Hanging(LoadedModel):
        def __init__(self, folder, *settings):
            while folder.name == "666" and not release.exists():
                time.sleep(0.02)
            super().__init__(folder, *settings)

    monkeypatch.setattr("pairloom.serving.server.saved_model.LoadedModel", Hanging)
    monkeypatch.setattr("pairloom.serving.server.server._PATIENCE_SECONDS", 0.3)
    yield
    release.touch()


def test_a_server_opens_when_something_can_be_asked(start_server, base_path, monkeypatch):
    class Slow(LoadedModel):
        def __init__(self, folder, *settings):
            time.sleep(1)
            super().__init__(folder, *settings)

    monkeypatch.setattr("pairloom.serving.server.saved_model.LoadedModel", Slow)
    monkeypatch.setattr("pairloom.serving.server.server._PATIENCE_SECONDS", 0.1)
    server = start_server(base_path)
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert client.predict("a")[0].text == "1:A"


@pytest.mark.slow
def test_a_version_that_never_loads_holds_up_no_other(
    start_server, base_path, saved_models, tmp_path, hanging
):
    shutil.copytree(saved_models[2], base_path / "666")
    other = tmp_path / "other"
    shutil.copytree(saved_models[2], other / "1")
    config = tmp_path / "models.config"
    config.write_text(
        "model_config_list { "
        + " ".join(
            f'config {{ name: "{name}" base_path: "{path}" model_platform: "tensorflow" }}'
            for name, path in (("tiny", base_path), ("other", other))
        )
        + " }"
    )
    server = start_server(base_path, model_config_file=str(config), max_load_seconds=15)
    shutil.copytree(saved_models[3], other / "3")
    until = time.monotonic() + 50
    while server._registry.available("other") != [3] and time.monotonic() < until:
        time.sleep(0.05)
    assert server._registry.available("other") == [3]
    while time.monotonic() < until:
        rows = {row[0]: row for row in server._registry.status("tiny")}
        if rows[666][1] is State.END:
            break
        time.sleep(0.05)
    assert rows[666][2] is Code.DEADLINE_EXCEEDED and "--max_load_seconds" in rows[666][3]
    assert server._registry.available("tiny") == [1]


def reload(server, base_path, token=None):
    request = model_management_pb2.ReloadConfigRequest()
    request.config.model_config_list.config.add(
        name="tiny", base_path=str(base_path), model_platform="tensorflow"
    )
    metadata = [("authorization", f"Bearer {token}")] if token else []
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = model_service_pb2_grpc.ModelServiceStub(channel)
        try:
            stub.HandleReloadConfigRequest(request, timeout=30, metadata=metadata)
        except grpc.RpcError as error:
            return error.code(), error.details()
    return grpc.StatusCode.OK, ""


def test_who_may_predict_may_not_reload(start_server, base_path, tmp_path):
    for name, token in (("token", TOKEN), ("admin", ADMIN)):
        (tmp_path / name).write_text(token)
    server = start_server(
        base_path, token_file=str(tmp_path / "token"), admin_token_file=str(tmp_path / "admin")
    )
    with Client(f"127.0.0.1:{server.port}", "tiny", token=TOKEN) as client:
        assert client.predict("a")
    assert reload(server, base_path, TOKEN)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert reload(server, base_path)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert reload(server, base_path, ADMIN)[0] is grpc.StatusCode.OK


def test_models_come_from_below_the_root_alone(start_server, base_path, tmp_path, saved_model):
    outside = tmp_path / "outside"
    (outside / "tiny").mkdir(parents=True)
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside / "tiny")
    os.rename(base_path, root / "tiny")
    server = start_server(root / "tiny", model_root=str(root))
    for bad in (outside / "tiny", root / "link", root / ".." / "outside" / "tiny"):
        code, message = reload(server, bad)
        assert code is grpc.StatusCode.INVALID_ARGUMENT and "--model_root" in message
    assert reload(server, root / "tiny")[0] is grpc.StatusCode.OK
    with pytest.raises(ServingError, match="--model_root"):
        ModelServer(ServerOptions(str(outside / "tiny"), model_root=str(root), port=0)).check()


def test_an_open_server_is_warned_of():
    notes = ServerOptions("x", bind_address="0.0.0.0").notes()
    assert any("--admin_token_file" in note and "program" in note for note in notes)
    assert not ServerOptions("x").notes()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:8501"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "attacker.example"}, 403),
        ({"Host": "attacker.example:8501", "Origin": "http://attacker.example:8501"}, 403),
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:8501"}, 200),
    ],
)
@pytest.mark.parametrize("path", ["/v1/models/tiny", "/", "/page/models.json"])
def test_a_page_of_another_site_reads_nothing(shared_server, path, headers, status):
    assert ask(shared_server, path, **headers)[0] == status


def test_other_names_are_allowed_by_flag_or_token(start_server, base_path, tmp_path):
    server = start_server(base_path, allowed_hosts="models.example, other")
    assert ask(server, Host="Models.Example")[0] == 200
    assert ask(server, Host="attacker.example")[0] == 403
    (tmp_path / "token").write_text(TOKEN)
    server = start_server(base_path, token_file=str(tmp_path / "token"))
    known = {"Authorization": f"Bearer {TOKEN}", "Host": "models.example"}
    assert ask(server, **known)[0] == 200


def test_a_long_signature_is_cut_in_the_log(start_server, base_path, caplog):
    caplog.set_level("INFO", "pairloom.serving.requests")
    server = start_server(base_path, log_format="json")
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "tiny", "s" * 100_000
    request.inputs["source"].CopyFrom(tf.make_tensor_proto(["a"]))
    with (
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
        pytest.raises(grpc.RpcError),
    ):
        prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(request, timeout=10)
    [note] = [record.details for record in caplog.records if hasattr(record, "details")]
    assert len(json.dumps(note)) < 5000
