"""What TF Serving's own tests of its program ask, asked of the command with the same flags.

The scenarios are those of `tensorflow_model_server_test.py`; half_plus_two and half_plus_three are
models such as its test data holds.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import grpc
import pytest
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

SECONDS = 10
VERSION = 123


def save_half_plus(folder, addend):
    """A TF1 model that answers `x / 2 + addend`, to numbers and to examples."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        serialized = v1.placeholder(tf.string, [None], name="tf_example")
        parsed = v1.parse_example(serialized, {"x": tf.io.FixedLenFeature([1], tf.float32)})
        x = tf.identity(parsed["x"], name="x")
        half = v1.get_variable("a", initializer=0.5)
        more = v1.get_variable("b", initializer=float(addend))
        y = tf.add(half * x, more, name="y")
        session.run(v1.global_variables_initializer())
        kinds = v1.saved_model
        signatures = {
            "serving_default": kinds.predict_signature_def({"x": x}, {"y": y}),
            "regress_x_to_y": kinds.regression_signature_def(serialized, y),
            "classify_x_to_y": kinds.classification_signature_def(serialized, None, y),
        }
        builder = kinds.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    base = tmp_path_factory.mktemp("testdata")
    save_half_plus(base / "half_plus_two" / str(VERSION), 2)
    save_half_plus(base / "half_plus_three" / str(VERSION), 3)
    save_half_plus(base / "half_plus_three" / str(VERSION + 1), 3)
    return base


@pytest.fixture(scope="module")
def run_server(tmp_path_factory):
    """Starts `pairloom serve` on ports that are free; gives the process and both addresses."""
    with ExitStack() as started:
        yield lambda *flags: _run(started, flags)


def _run(started, flags):
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            ports.append(listener.getsockname()[1])
    program = "import sys; from pairloom.pipeline.cli import main; sys.exit(main())"
    usual = f"--port={ports[0]}", f"--rest_api_port={ports[1]}", "--rest_api_timeout_in_ms=5000"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "serve", *usual, *flags],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    started.callback(process.communicate)
    started.callback(process.kill)
    return process, f"localhost:{ports[0]}", f"http://localhost:{ports[1]}"


def wait_until_ready(address):
    """By a model that is not there, as their tests do."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "intentionally_missing_model"
    with grpc.insecure_channel(address) as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        for _ in range(300):
            try:
                stub.Predict(request, SECONDS)
            except grpc.RpcError as error:
                if "Servable" in error.details():
                    return
            time.sleep(0.2)
    raise AssertionError("The server never became ready.")


@pytest.fixture(scope="module")
def default(run_server, models, tmp_path_factory):
    """The server of most scenarios: its gRPC, REST and UNIX addresses."""
    folder = tmp_path_factory.mktemp("flags")
    monitoring = folder / "monitoring_config.txt"
    monitoring.write_text(
        'prometheus_config: { enable: true, path: "/monitoring/prometheus/metrics" }'
    )
    _, address, rest = run_server(
        "--model_name=default",
        f"--model_base_path={models / 'half_plus_two'}",
        f"--monitoring_config_file={monitoring}",
        f"--grpc_socket_path={folder / 'tf-serving.sock'}",
        "--grpc_channel_arguments=grpc.max_connection_age_ms=2000,grpc.lb_policy_name=grpclb",
    )
    wait_until_ready(address)
    return address, rest, f"unix:{folder / 'tf-serving.sock'}"


def verify_spec(spec, name, signature, version=VERSION):
    assert (spec.name, spec.signature_name, spec.version.value) == (name, signature, version)


def verify_predict(address, expected, model="default", outputs=("y",), version=VERSION, label=""):
    request = predict_pb2.PredictRequest(output_filter=outputs)
    request.model_spec.name = model
    request.model_spec.signature_name = "serving_default"
    if label:
        request.model_spec.version_label = label
    request.inputs["x"].dtype = types_pb2.DT_FLOAT
    request.inputs["x"].float_val.append(2.0)
    request.inputs["x"].tensor_shape.dim.add(size=1)
    request.inputs["x"].tensor_shape.dim.add(size=1)
    with grpc.insecure_channel(address) as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        result = stub.Predict(request, SECONDS)
    assert result.outputs["y"].dtype == types_pb2.DT_FLOAT
    assert list(result.outputs["y"].float_val) == [expected]
    verify_spec(result.model_spec, model, "serving_default", version)


def fill(request):
    example = request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.append(2.0)
    return request


@pytest.fixture
def stub(default):
    with grpc.insecure_channel(default[0]) as channel:
        yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


@pytest.mark.parametrize("outputs", [["y"], []])
def test_predict(default, outputs):
    verify_predict(default[0], 3.0, outputs=outputs)


def test_predict_over_a_unix_socket(default):
    verify_predict(default[2], 3.0)


def test_get_model_status(default):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "default"
    with grpc.insecure_channel(default[0]) as channel:
        result = model_service_pb2_grpc.ModelServiceStub(channel).GetModelStatus(request, SECONDS)
    [status] = result.model_version_status
    assert (status.version, status.status.error_code) == (VERSION, 0)


def test_classify(stub):
    request = fill(classification_pb2.ClassificationRequest())
    request.model_spec.name, request.model_spec.signature_name = "default", "classify_x_to_y"
    result = stub.Classify(request, SECONDS)
    [row] = result.result.classifications
    assert [one.score for one in row.classes] == [3.0]
    verify_spec(result.model_spec, "default", "classify_x_to_y")


def test_regress(stub):
    request = fill(regression_pb2.RegressionRequest())
    request.model_spec.name, request.model_spec.signature_name = "default", "regress_x_to_y"
    result = stub.Regress(request, SECONDS)
    assert [one.value for one in result.result.regressions] == [3.0]
    verify_spec(result.model_spec, "default", "regress_x_to_y")


def test_multi_inference(stub):
    request = fill(inference_pb2.MultiInferenceRequest())
    for kind in ("regress", "classify"):
        task = request.tasks.add(method_name=f"tensorflow/serving/{kind}")
        task.model_spec.name, task.model_spec.signature_name = "default", f"{kind}_x_to_y"
    regressed, classified = stub.MultiInference(request, SECONDS).results
    assert regressed.regression_result.regressions[0].value == 3.0
    assert classified.classification_result.classifications[0].classes[0].score == 3.0
    verify_spec(regressed.model_spec, "default", "regress_x_to_y")
    verify_spec(classified.model_spec, "default", "classify_x_to_y")


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(url, data, timeout=SECONDS) as response:
        return response.read().decode()


@pytest.mark.parametrize(
    ("method", "body", "expected"),
    [
        (
            "classify",
            {"signature_name": "classify_x_to_y", "examples": [{"x": 2.0}]},
            {"results": [[["", 3.0]]]},
        ),
        (
            "regress",
            {"signature_name": "regress_x_to_y", "examples": [{"x": 2.0}]},
            {"results": [3.0]},
        ),
        (
            "predict",
            {"instances": [[2.0], [3.0], [4.0]]},
            {"predictions": [[3.0], [3.5], [4.0]]},
        ),
        # As TF Serving's documents ask it, though the model states rows of one number.
        ("predict", {"instances": [1.0, 2.0, 5.0]}, {"predictions": [2.5, 3.0, 4.5]}),
        ("predict", {"inputs": [[2.0], [3.0]]}, {"outputs": [[3.0], [3.5]]}),
    ],
)
def test_rest(default, method, body, expected):
    assert json.loads(ask(f"{default[1]}/v1/models/default:{method}", body)) == expected


def test_status_over_rest(default):
    assert json.loads(ask(f"{default[1]}/v1/models/default")) == {
        "model_version_status": [
            {
                "version": str(VERSION),
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
    }


def test_metadata_over_rest(default):
    document = json.loads(ask(f"{default[1]}/v1/models/default/metadata"))
    spec = {"name": "default", "signature_name": "", "version": str(VERSION)}
    assert document["model_spec"] == spec
    signature = document["metadata"]["signature_def"]["signature_def"]["regress_x_to_y"]
    assert signature["method_name"] == "tensorflow/serving/regress"
    assert signature["inputs"]["inputs"]["dtype"] == "DT_STRING"


def test_prometheus_metrics(default):
    assert "# TYPE" in ask(f"{default[1]}/monitoring/prometheus/metrics")


def test_predict_with_batching(run_server, models, tmp_path):
    parameters = tmp_path / "batching_config.txt"
    parameters.write_text(
        "max_batch_size { value: 128 } batch_timeout_micros { value: 0 } "
        "max_enqueued_batches { value: 1000000 } num_batch_threads { value: 8 }"
    )
    base = f"--model_base_path={models / 'half_plus_two'}"
    # Another flag may follow the one that stands alone.
    flags = "--enable_batching", f"--batching_parameters_file={parameters}"
    _, address, _ = run_server("--model_name=default", base, *flags)
    wait_until_ready(address)
    verify_predict(address, 3.0)


CONFIG = """config: {{ name: "{name}" base_path: "{base}" model_platform: "tensorflow" {more} }}"""


def write_config(path, *entries):
    path.write_text(f"model_config_list: {{ {' '.join(entries)} }}")


def entry(models, name, more=""):
    return CONFIG.format(name=name, base=models / name, more=more)


def test_a_config_of_several_models_and_labels_that_changes(run_server, models, tmp_path):
    config = tmp_path / "model_config.txt"
    both = (
        "model_version_policy { all {} } "
        f'version_labels {{ key: "stable" value: {VERSION} }} '
        f'version_labels {{ key: "canary" value: {VERSION + 1} }}'
    )
    two, three = entry(models, "half_plus_two"), entry(models, "half_plus_three", both)
    write_config(config, two, three)
    _, address, rest = run_server(
        f"--model_config_file={config}", "--model_config_file_poll_wait_seconds=1"
    )
    wait_until_ready(address)
    for outputs in (["y"], []):
        verify_predict(address, 3.0, "half_plus_two", outputs)
        verify_predict(address, 4.0, "half_plus_three", outputs, VERSION + 1)
    verify_predict(address, 4.0, "half_plus_three", label="stable")
    verify_predict(address, 4.0, "half_plus_three", version=VERSION + 1, label="canary")
    url = f"{rest}/v1/models/half_plus_three/labels/stable:predict"
    assert json.loads(ask(url, {"inputs": [[2.0]]})) == {"outputs": [[4.0]]}
    write_config(config, three)
    for _ in range(100):
        try:
            ask(f"{rest}/v1/models/half_plus_two")
        except urllib.error.HTTPError:
            break
        time.sleep(0.1)
    with pytest.raises(grpc.RpcError, match="Servable not found"):
        verify_predict(address, 3.0, "half_plus_two")
    verify_predict(address, 4.0, "half_plus_three", version=VERSION + 1)


def test_a_bad_config_ends_the_server_with_tf_servings_words(run_server, tmp_path):
    config = tmp_path / "bad_model_config.txt"
    config.write_text("improperly formatted file!\n")
    process, *_ = run_server(f"--model_config_file={config}")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Error parsing text-format tensorflow.serving.ModelServerConfig" in errors
    assert f"Invalid protobuf file: '{config}'" in errors
