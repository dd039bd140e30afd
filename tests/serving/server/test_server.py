"""The whole server: start, swap under load, stop; in this process and in one of its own."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import grpc
import pytest

from pairloom.serving import Client, client, wire
from pairloom.serving.server import ModelServer, PortInUse, ServerOptions, ServingError


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "It never happened."
        time.sleep(0.02)


def push(saved_model, base_path, version):
    """Copies file by file into the final folder, slowly, as a pusher might."""
    target = base_path / str(version)
    for path in sorted(saved_model.rglob("*")):
        place = target / path.relative_to(saved_model)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            with place.open("wb") as file:
                for start in range(0, len(data), 20_000):
                    file.write(data[start : start + 20_000])
                    file.flush()
                    time.sleep(0.01)


def test_versions_swap_under_load_without_a_failed_request(
    start_server, base_path, saved_models, tmp_path
):
    server = start_server(base_path)
    stop = threading.Event()
    seen, failures = [], []

    def ask(number):
        address = f"127.0.0.1:{server.port}"
        with Client(address, "tiny") as asker:
            while not stop.is_set():
                try:
                    text = asker.predict("a")[0].text
                    seen.append(text)
                    if text not in ("1:A", "2:A", "3:A"):
                        failures.append(text)
                except Exception as error:
                    failures.append(error)

    def newest():
        with Client(f"127.0.0.1:{server.port}", "tiny") as asker:
            return asker.predict("a")[0].text

    askers = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for asker in askers:
        asker.start()
    try:
        push(saved_models[2], base_path, 2)
        until(lambda: newest() == "2:A")
        (base_path / "4").mkdir()
        (base_path / "4" / "saved_model.pb").write_bytes(b"not a model")
        push(saved_models[3], base_path, 3)
        until(lambda: newest() == "3:A")
        shutil.rmtree(base_path / "1")
        shutil.rmtree(base_path / "2")
        time.sleep(0.3)
    finally:
        stop.set()
        for asker in askers:
            asker.join(20)
    assert failures == []
    assert set(seen) == {"1:A", "2:A", "3:A"}
    with Client(f"127.0.0.1:{server.port}", "tiny") as asker:
        status = {row.version: row for row in asker.status()}
    assert status[3].state == "AVAILABLE"
    assert status[4].state == "END" and status[4].error
    assert status[1].state == status[2].state == "END"


def test_many_threads_get_their_own_answers(shared_server):
    wrong = []

    def ask(number):
        with Client(f"127.0.0.1:{shared_server.port}", "tiny") as asker:
            for turn in range(20):
                texts = [f"{number} {turn} {item}" for item in range(number + 1)]
                if [answer.text for answer in asker.predict(texts)] != [f"3:{t}" for t in texts]:
                    wrong.append(texts)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []


@pytest.mark.parametrize(
    ("there", "warning"),
    [(True, "No version of model tiny"), (False, "Could not find base path")],
    ids=["empty", "not there"],
)
def test_a_server_waits_for_its_first_version(
    start_server, tmp_path, saved_model, caplog, there, warning
):
    base = tmp_path / "empty"
    if there:
        base.mkdir()
    server = start_server(base)
    assert warning in caplog.text
    with Client(f"127.0.0.1:{server.port}", "tiny") as asker:
        with pytest.raises(client.ModelNotFound, match="Could not find any versions"):
            asker.status()
        with pytest.raises(client.ModelNotFound, match="Servable not found"):
            asker.predict("a")
        shutil.copytree(saved_model, base / "1")

        def answers():
            try:
                return asker.predict("a")[0].text == "1:A"
            except client.ModelNotFound:
                return False

        until(answers)


def test_several_models_share_a_server(start_server, base_path, saved_models, tmp_path):
    shutil.copytree(saved_models[2], tmp_path / "second" / "5")
    config = tmp_path / "models.config"
    config.write_text(
        f"""model_config_list {{
            config {{ name: "first" base_path: "{base_path}" model_platform: "tensorflow" }}
            config {{
                name: "second" base_path: "{tmp_path / "second"}" model_platform: "tensorflow"
            }}
        }}"""
    )
    server = start_server(base_path, model_config_file=str(config))
    address = f"127.0.0.1:{server.port}"
    assert Client(address, "first").predict("a")[0].text == "1:A"
    assert Client(address, "second", version=5).predict("a")[0].text == "2:A"
    with pytest.raises(client.ModelNotFound, match="names no model.*: first, second"):
        Client(address).predict(source="a")


def test_a_server_without_rest_and_without_polling(start_server, base_path, saved_models):
    server = start_server(
        base_path, free_rest_port=False, file_system_poll_wait_seconds=0, enable_model_warmup=False
    )
    assert server.rest_port == 0
    shutil.copytree(saved_models[2], base_path / "2")
    time.sleep(0.3)
    with Client(f"127.0.0.1:{server.port}", "tiny") as asker:
        assert asker.predict("a")[0].text == "1:A"


def test_a_message_over_the_limit_is_refused_and_under_it_taken(start_server, base_path):
    server = start_server(base_path, max_message_bytes=6_000_000)
    with Client(f"127.0.0.1:{server.port}", "tiny") as asker:
        # Over gRPC's own limit of 4 MB, both ways.
        assert len(asker.predict("a" * 5_000_000)[0].text) == 5_000_002
        with pytest.raises(
            client.BadRequest, match=r"over the limit of 6000000 \(--max_message_bytes\)"
        ):
            asker.predict("a" * 7_000_000)


def test_grpc_and_rest_ports_in_use_are_clear_errors(base_path, start_server):
    running = start_server(base_path)
    for flag, port in (("port", running.port), ("rest_api_port", running.rest_port)):
        ports = {"port": 0, "rest_api_port": 0} | {flag: port}
        server = ModelServer(ServerOptions(model_base_path=str(base_path), **ports))
        with pytest.raises(PortInUse, match=f"--{flag}.*another program uses this port"):
            server.start()


def test_a_rest_port_that_nobody_asked_for_may_be_taken(base_path, caplog):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        options = ServerOptions(
            model_base_path=str(base_path), port=0, rest_api_port=taken, optional_rest=True
        )
        with ModelServer(options) as server:
            assert server.rest_port == 0
            with Client(f"127.0.0.1:{server.port}", "default") as asker:
                assert asker.predict("a")[0].text == "1:A"
    assert f"127.0.0.1:{taken} (--rest_api_port): another program" in caplog.text
    assert "Serving without REST" in caplog.text


def test_a_port_lost_after_the_check_is_still_a_clear_error(base_path, monkeypatch):
    """Two servers that start together both find the port free; one loses."""
    from pairloom.serving.server import server as module

    monkeypatch.setattr(module, "check_ports", lambda options: None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        for ports in ({"port": taken, "rest_api_port": 0}, {"port": 0, "rest_api_port": taken}):
            server = ModelServer(ServerOptions(model_base_path=str(base_path), **ports))
            with pytest.raises(PortInUse, match="another program uses this port"):
                server.start()


def test_two_grpc_servers_never_share_a_port(shared_server, base_path):
    # gRPC's default would let them, and each would get half of the requests.
    options = ServerOptions(
        model_base_path=str(base_path), port=shared_server.port, rest_api_port=0
    )
    with pytest.raises(ServingError):
        ModelServer(options).start()


# About a second's work for the `slow` signature.
STEPS = 200_000

PROGRAM = """
import argparse, sys
from pairloom.serving.server import ServingError, add_serve_arguments, options_from_arguments, serve
parser = argparse.ArgumentParser()
add_serve_arguments(parser)
try:
    serve(options_from_arguments(parser.parse_args()))
except ServingError as error:
    assert "tensorflow" not in sys.modules
    sys.exit(str(error))
"""


@pytest.fixture
def program():
    started = []

    def run(*flags, before=""):
        process = subprocess.Popen(
            [sys.executable, "-c", before + PROGRAM, *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_sigterm_finishes_the_requests_under_way(program, base_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        rest_port = listener.getsockname()[1]
    process = program(
        f"--model_base_path={base_path}",
        "--model_name=tiny",
        "--port=0",
        f"--rest_api_port={rest_port}",
        "--enable_batching",
        "--num_load_threads=2",
    )
    line = process.stdout.readline()
    assert line.startswith("Serving tiny version 1 on grpc 127.0.0.1:")
    assert line.endswith(f", rest http://127.0.0.1:{rest_port}\n")
    address = line.split("grpc ")[1].split(",")[0]

    body = {"signature_name": "slow", "inputs": STEPS}
    url = f"http://127.0.0.1:{rest_port}/v1/models/tiny:predict"
    answers = {}

    def ask_rest():
        with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=60) as response:
            answers["rest"] = json.loads(response.read())["outputs"]

    def ask_grpc():
        request = wire.PredictRequest()
        request.model_spec.name = "tiny"
        request.model_spec.signature_name = "slow"
        tensor = wire.Tensor(dtype=9, int64_val=[STEPS])
        request.inputs.add(key="steps", value=tensor)
        with grpc.insecure_channel(address) as channel:
            call = channel.unary_unary(
                "/tensorflow.serving.PredictionService/Predict",
                request_serializer=wire.PredictRequest.SerializeToString,
                response_deserializer=wire.PredictResponse.FromString,
            )
            answers["grpc"] = wire.array(call(request, timeout=60).outputs[0].value).item()

    askers = [threading.Thread(target=ask) for ask in (ask_rest, ask_grpc)]
    for asker in askers:
        asker.start()
    time.sleep(0.2)
    assert answers == {}, "The requests ended before the signal; make them slower."
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    for asker in askers:
        asker.join(10)
    total = STEPS * (STEPS - 1) // 2
    assert answers == {"rest": total, "grpc": total}
    assert process.returncode == 0
    assert output.splitlines() == [
        "Stopping: finishing the requests under way.",
        "Unloaded tiny version 1",
    ]
    assert errors == "--num_load_threads is accepted and has no effect here.\n"


def test_sigterm_during_the_first_load_ends_before_the_next_model(
    program, base_path, saved_models, tmp_path
):
    slow = """
import time
from pairloom.serving.server import saved_model
class Slow(saved_model.LoadedModel):
    def __init__(self, folder, *settings):
        print("loading", folder.parent.name, flush=True)
        time.sleep(1)
        super().__init__(folder, *settings)
saved_model.LoadedModel = Slow
"""
    shutil.copytree(saved_models[2], tmp_path / "second" / "2")
    models = " ".join(
        f'config {{ name: "{path.name}" base_path: "{path}" model_platform: "tensorflow" }}'
        for path in (base_path, tmp_path / "second")
    )
    (tmp_path / "models.config").write_text(f"model_config_list {{ {models} }}")
    flags = f"--model_config_file={tmp_path / 'models.config'}", "--port=0", "--rest_api_port=0"
    process = program(*flags, before=slow)
    assert process.stdout.readline() == "loading tiny\n"
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output.splitlines() == [
        "Stopping: nothing was served yet.",
        "Unloaded tiny version 1",
    ]


def test_a_port_in_use_is_one_sentence_said_before_tensorflow_is_imported(program, base_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = program(f"--model_base_path={base_path}", f"--port={port}")
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert output == ""
    assert errors == (
        f"Cannot listen on 127.0.0.1:{port} (--port): another program uses this port; "
        "stop it or choose another port.\n"
    )
