"""Whatever is sent, the server answers with the right code, and goes on answering.

The same requests in every run; `make fuzz` draws others for as long as one likes.
"""

import http.client
import json
import logging
import os
import shutil
import socket
import time

import grpc
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from pairloom.serving import Client
from pairloom.serving.client import BadRequest
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server import ModelServer, ServerOptions
from pairloom.serving.server.servable import LONGEST_TEXT

METHOD = "/tensorflow.serving.PredictionService/Predict"
# What a wrong request may be told; INTERNAL, UNKNOWN or a hang would be the server's fault.
CLIENTS_FAULT = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.OUT_OF_RANGE,
}
FUZZ = settings(
    max_examples=150,
    deadline=None,
    derandomize="PAIRLOOM_FUZZ_BY_CHANCE" not in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def channel(shared_server):
    with grpc.insecure_channel(f"127.0.0.1:{shared_server.port}") as channel:
        yield channel


@pytest.fixture(autouse=True)
def still_serving(shared_server):
    yield
    with Client(f"127.0.0.1:{shared_server.port}", "tiny", timeout=10) as client:
        assert client.predict(["hi"])[0].text == "3:HI"


def outcome(call, *arguments):
    """OK, or the error's code."""
    try:
        call(*arguments, timeout=20)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


SIZES = st.integers(-2, 4) | st.sampled_from([2**31, 2**62])
TENSORS = st.builds(
    tf.make_tensor_proto(0).__class__,
    dtype=st.integers(0, 30),
    tensor_shape=st.builds(
        lambda sizes, unknown: {
            "dim": [{"size": size} for size in sizes],
            "unknown_rank": unknown,
        },
        st.lists(SIZES, max_size=4),
        st.booleans(),
    ),
    tensor_content=st.just(b"") | st.binary(max_size=40),
    string_val=st.lists(st.binary(max_size=20), max_size=5),
    int_val=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5),
    int64_val=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    float_val=st.lists(st.floats(width=32), max_size=5),
    half_val=st.lists(st.integers(0, 2**16 - 1), max_size=5),
)
NAMES = st.sampled_from(["source", "target", "numbers", "steps", "index", "data", ""]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=10
)
SIGNATURES = st.sampled_from(["", "nbest", "explain", "score", "echo", "pick", "nothing"])


@given(
    inputs=st.dictionaries(NAMES, TENSORS, max_size=4),
    signature=SIGNATURES,
    outputs=st.lists(NAMES, max_size=2),
    version=st.none() | st.sampled_from([1, 3, 9, -1, 2**63 - 1]),
)
@FUZZ
def test_any_predict_request(channel, inputs, signature, outputs, version):
    request = predict_pb2.PredictRequest(output_filter=outputs)
    request.model_spec.name = "tiny"
    request.model_spec.signature_name = signature
    if version is not None:
        request.model_spec.version.value = version
    for name, tensor in inputs.items():
        request.inputs[name].CopyFrom(tensor)
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    assert outcome(stub.Predict, request) in CLIENTS_FAULT | {grpc.StatusCode.OK}


def _usual_request() -> bytes:
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "tiny"
    request.inputs["source"].CopyFrom(tf.make_tensor_proto(["hi", "there"]))
    return request.SerializeToString()


def _usual(kind, base_path):
    """A request of a kind, right in every respect."""
    request = kind()
    if kind is predict_pb2.PredictRequest:
        return predict_pb2.PredictRequest.FromString(_usual_request())
    if kind is model_management_pb2.ReloadConfigRequest:
        model = request.config.model_config_list.config.add(name="tiny", base_path=str(base_path))
        model.model_platform = "tensorflow"
        return request
    if kind is inference_pb2.MultiInferenceRequest:
        task = request.tasks.add(method_name="tensorflow/serving/classify")
        task.model_spec.name, task.model_spec.signature_name = "tiny", "evaluate"
    else:
        request.model_spec.name = "tiny"
    if kind is get_model_metadata_pb2.GetModelMetadataRequest:
        request.metadata_field.append("signature_def")
    if hasattr(request, "input"):
        example = request.input.example_list.examples.add()
        example.features.feature["source"].bytes_list.value.append(b"hi")
    return request


REQUESTS = {
    "PredictionService/Predict": predict_pb2.PredictRequest,
    "PredictionService/GetModelMetadata": get_model_metadata_pb2.GetModelMetadataRequest,
    "PredictionService/Classify": classification_pb2.ClassificationRequest,
    "PredictionService/Regress": regression_pb2.RegressionRequest,
    "PredictionService/MultiInference": inference_pb2.MultiInferenceRequest,
    "ModelService/GetModelStatus": get_model_status_pb2.GetModelStatusRequest,
    "ModelService/HandleReloadConfigRequest": model_management_pb2.ReloadConfigRequest,
}
RELOAD = "ModelService/HandleReloadConfigRequest"


@pytest.fixture(scope="module", params=["alone", "batched"])
def own_channel(request, saved_model, tmp_path_factory):
    """A server of its own, since reloads change what it serves; with its folder of versions."""
    base = tmp_path_factory.mktemp("fuzzed") / "tiny"
    shutil.copytree(saved_model, base / "1")
    options = ServerOptions(
        model_base_path=str(base),
        model_name="tiny",
        port=0,
        rest_api_port=0,
        enable_batching=request.param == "batched",
    )
    with (
        ModelServer(options) as server,
        grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        yield channel, base


@pytest.fixture
def restored(own_channel):
    """Restores the config after a test, and looks whether the server still answers."""
    yield own_channel
    channel, base = own_channel
    config = _usual(REQUESTS[RELOAD], base).SerializeToString()
    assert outcome(channel.unary_unary(f"/tensorflow.serving.{RELOAD}"), config) == (
        grpc.StatusCode.OK
    )
    assert outcome(channel.unary_unary(METHOD), _usual_request()) == grpc.StatusCode.OK


@pytest.mark.parametrize("method", REQUESTS)
@given(
    changes=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=6),
    cut=st.just(0) | st.integers(0, 60),
    more=st.just(b"") | st.binary(max_size=10),
)
@settings(FUZZ, max_examples=100)
def test_any_bytes(restored, method, changes, cut, more):
    channel, base = restored
    kind = REQUESTS[method]
    raw = bytearray(_usual(kind, base).SerializeToString())
    for place, value in changes:
        raw[place % len(raw)] = value
    body = bytes(raw[: len(raw) - cut % len(raw)]) + more
    # gRPC itself answers INTERNAL to bytes that are no message.
    allowed = CLIENTS_FAULT | {grpc.StatusCode.OK, grpc.StatusCode.INTERNAL}
    if method == RELOAD:
        # A model that did not become available, as from TF Serving.
        allowed |= {grpc.StatusCode.UNKNOWN}
    code = outcome(channel.unary_unary(f"/tensorflow.serving.{method}"), body)
    assert code in allowed
    if code is grpc.StatusCode.INTERNAL:
        with pytest.raises(Exception, match="parsing|Wrong wire type|Truncated|UTF-8|invalid"):
            kind.FromString(body)


# Half characters too, which JSON can say and no field of a message can hold.
TEXTS = st.text(max_size=8) | st.text("a\u00e9\ud800\udcff", max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["source", "b64", "x"]) | TEXTS, inner, max_size=2)
    ),
    max_leaves=8,
)


@given(
    document=st.dictionaries(
        st.sampled_from(["instances", "inputs", "signature_name", "examples", "context"]),
        VALUES,
        max_size=3,
    ),
    method=st.sampled_from(["predict", "classify", "regress"]),
)
@FUZZ
def test_any_json(shared_server, document, method):
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
    connection.request("POST", f"/v1/models/tiny:{method}", json.dumps(document))
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert response.status in (200, 400, 404, 501)
    assert ("error" in answer) == (response.status != 200)


@given(
    examples=st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), min_size=1, max_size=2),
    signature=TEXTS,
    raw=st.booleans(),
    method=st.sampled_from(["classify", "regress"]),
)
@FUZZ
def test_any_examples(shared_server, examples, signature, raw, method):
    document = {"examples": examples, "signature_name": signature}
    body = json.dumps(document, ensure_ascii=not raw).encode("utf-8", "surrogatepass")
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
    connection.request("POST", f"/v1/models/tiny:{method}", body)
    response = connection.getresponse()
    assert json.loads(response.read())["error"]
    connection.close()
    assert response.status in (400, 501)


@given(
    target=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
    body=st.binary(max_size=30),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "BREW"]),
)
@FUZZ
def test_any_http(shared_server, target, body, method):
    with socket.create_connection(("127.0.0.1", shared_server.rest_port), timeout=20) as raw:
        head = f"{method} /{target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        raw.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    status = int(answer.split(b" ", 2)[1])
    assert status in (200, 400, 404, 501)


@pytest.mark.parametrize(
    "name",
    [
        "../tiny",
        "..%2ftiny",
        "%2e%2e/tiny",
        "tiny/../../etc/passwd",
        "tiny%00",
        "/etc/passwd",
        "tiny\\",
    ],
)
def test_path_tricks_find_no_model(shared_server, channel, name):
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
    connection.request("GET", f"/v1/models/{name}")
    status = connection.getresponse().status
    connection.close()
    assert status in (400, 404)
    request = predict_pb2.PredictRequest.FromString(_usual_request())
    request.model_spec.name = name
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    assert outcome(stub.Predict, request) == grpc.StatusCode.NOT_FOUND


def test_large_and_odd_inputs_are_answered(shared_server):
    with Client(f"127.0.0.1:{shared_server.port}", "tiny") as client:
        assert client.predict([]) == []
        assert client.predict([""])[0].text == "3:"
        assert len(client.predict(["x" * 10_000_000])[0].text) == 10_000_002
        assert len(client.predict(["hi"] * 1000)) == 1000
        assert client.predict([b"\xff\xfe"])[0].text == "3:\ufffd\ufffd"


def test_an_input_over_the_limit_is_refused_with_the_limit(start_server, base_path):
    server = start_server(base_path, max_input_bytes=100)
    stub_channel = grpc.insecure_channel(f"127.0.0.1:{server.port}")
    request = predict_pb2.PredictRequest.FromString(_usual_request())
    request.inputs["source"].CopyFrom(tf.make_tensor_proto(["x" * 101]))
    with stub_channel, pytest.raises(grpc.RpcError, match="at most 100 ") as caught:
        prediction_service_pb2_grpc.PredictionServiceStub(stub_channel).Predict(request, timeout=10)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_header_of_a_megabyte_is_refused(shared_server, channel):
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
    try:
        connection.request("GET", "/v1/models/tiny", headers={"X-Large": "x" * 1_000_000})
        assert connection.getresponse().status in (400, 431)
    except ConnectionError:
        pass  # It hung up before all was sent.
    connection.close()
    call = channel.unary_unary(METHOD)
    with pytest.raises(grpc.RpcError) as caught:
        call(_usual_request(), timeout=20, metadata=[("x-large", "x" * 1_000_000)])
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_client_that_never_reads_holds_up_nobody(shared_server):
    body = json.dumps({"inputs": ["x" * 5_000_000]}).encode()
    head = "POST /v1/models/tiny:predict HTTP/1.1\r\nHost: [::1]\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    silent = []
    for _ in range(8):
        raw = socket.create_connection(("127.0.0.1", shared_server.rest_port), timeout=20)
        raw.sendall(head.encode() + body)
        silent.append(raw)
    time.sleep(0.5)
    with Client(f"127.0.0.1:{shared_server.port}", "tiny", timeout=10) as client:
        assert client.predict(["hi"])[0].text == "3:HI"
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=10)
    connection.request("GET", "/v1/models/tiny")
    assert connection.getresponse().status == 200
    connection.close()
    for raw in silent:
        raw.close()


def test_a_cancelled_request_frees_its_thread(start_server, base_path):
    server = start_server(base_path, grpc_max_threads=1)
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "tiny", "slow"
    request.inputs["steps"].CopyFrom(tf.make_tensor_proto(np.int64(10**12)))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.unary_unary(METHOD).future(request.SerializeToString(), timeout=3)
        time.sleep(0.5)
        call.cancel()
        started = time.monotonic()
        with Client(f"127.0.0.1:{server.port}", "tiny", timeout=15) as client:
            assert client.predict(["hi"])[0].text == "1:HI"
        assert time.monotonic() - started < 6


def test_a_rest_client_that_has_gone_before_its_turn_is_not_computed(
    start_server, base_path, caplog
):
    caplog.set_level(logging.INFO, "pairloom.serving.requests")
    server = start_server(base_path, grpc_max_threads=1, log_format="json")
    # Both would go on to their deadlines.
    body = json.dumps({"signature_name": "slow", "inputs": 10**12})
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "tiny", "slow"
    request.inputs["steps"].CopyFrom(tf.make_tensor_proto(np.int64(10**12)))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        first = channel.unary_unary(METHOD).future(request.SerializeToString(), timeout=3)
        time.sleep(0.5)
        second = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=20)
        second.request("POST", "/v1/models/tiny:predict", body)
        time.sleep(0.5)
        second.close()
        assert first.exception().code() == grpc.StatusCode.DEADLINE_EXCEEDED
    until = time.monotonic() + 5
    while len(caplog.records) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    ended = {one.details["entrypoint"]: one.details["status"] for one in caplog.records}
    assert ended == {"GRPC": "DEADLINE_EXCEEDED", "REST": "CANCELLED"}


def test_a_text_has_a_limit_of_its_own(start_server, base_path):
    fields = Description((Field("source", "text"),), Field("target", "text"))
    file = base_path / "1" / DESCRIPTION_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text(fields.to_json())
    server = start_server(base_path)
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert client.predict(["x" * LONGEST_TEXT])[0].text
        with pytest.raises(BadRequest, match="at most 100000 .*--max_input_bytes"):
            client.predict(["x" * (LONGEST_TEXT + 1)])
