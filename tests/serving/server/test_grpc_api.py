"""The official stubs against a real server over loopback."""

import threading

import grpc
import numpy as np
import pytest
import tensorflow as tf
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from pairloom.serving.server.grpc_api import GrpcFront
from pairloom.serving.server.predict import start_predict


@pytest.fixture(scope="module")
def channel(shared_server):
    with grpc.insecure_channel(f"127.0.0.1:{shared_server.port}") as channel:
        yield channel


@pytest.fixture(scope="module")
def stub(channel):
    return prediction_service_pb2_grpc.PredictionServiceStub(channel)


@pytest.fixture(scope="module")
def status_stub(channel):
    return model_service_pb2_grpc.ModelServiceStub(channel)


def request_for(inputs, model="tiny", signature="", version=None, label="", outputs=()):
    request = predict_pb2.PredictRequest(output_filter=outputs)
    request.model_spec.name = model
    request.model_spec.signature_name = signature
    if version is not None:
        request.model_spec.version.value = version
    if label:
        request.model_spec.version_label = label
    for name, value in inputs.items():
        proto = value if isinstance(value, tf.make_tensor_proto(0).__class__) else None
        request.inputs[name].CopyFrom(tf.make_tensor_proto(value) if proto is None else proto)
    return request


def arrays(response):
    return {name: tf.make_ndarray(proto) for name, proto in response.outputs.items()}


def failure(call, request):
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=20)
    return caught.value.code(), caught.value.details()


def test_the_newest_version_answers_and_says_who_it_is(stub):
    response = stub.Predict(request_for({"source": ["hi", "you"]}))
    assert arrays(response)["target"].tolist() == [b"3:HI", b"3:YOU"]
    assert response.model_spec.name == "tiny"
    assert response.model_spec.version.value == 3
    assert response.model_spec.signature_name == "serving_default"


def test_numbers_stand_in_their_typed_fields_as_from_tf_serving(stub):
    response = stub.Predict(request_for({"source": ["hi", "you"]}))
    np.testing.assert_allclose(response.outputs["score"].float_val, [-0.2, -0.3], rtol=1e-6)
    assert list(response.outputs["target"].string_val) == [b"3:HI", b"3:YOU"]


def test_a_version_or_a_label_can_be_asked_for(stub):
    by_number = stub.Predict(request_for({"source": ["a"]}, version=1))
    by_label = stub.Predict(request_for({"source": ["a"]}, label="stable"))
    assert arrays(by_number)["target"].tolist() == arrays(by_label)["target"].tolist() == [b"1:A"]


def test_the_only_model_also_answers_to_default(stub):
    response = stub.Predict(request_for({"source": ["a"]}, model="default"))
    assert arrays(response)["target"].tolist() == [b"3:A"]
    assert response.model_spec.name == "default"


def test_the_output_filter_chooses_outputs(stub):
    response = stub.Predict(request_for({"source": ["a"]}, outputs=["score"]))
    assert list(response.outputs) == ["score"]


def test_an_empty_batch_gives_an_empty_answer(stub):
    empty = tf.make_tensor_proto([], tf.string, shape=[0])
    for signature in ("serving_default", "nbest", "explain"):
        response = stub.Predict(request_for({"source": empty}, signature=signature))
        assert arrays(response)["target"].shape[0] == 0


def test_an_empty_string_and_invalid_utf8_are_only_strings(stub):
    data = [b"", b"\xff\xfe\x00"]
    answers = arrays(stub.Predict(request_for({"source": data})))["target"]
    assert answers.tolist() == [b"3:", b"3:\xff\xfe\x00"]


def test_every_type_comes_back_as_it_went(stub):
    inputs = {
        "numbers": np.array([[0.1, -2.5]], np.float32),
        "counts": np.array([2**62], np.int64),
        "flags": np.array([True]),
        "data": np.array([b"\x00\xff"], np.object_),
    }
    outputs = arrays(stub.Predict(request_for(inputs, signature="echo")))
    for name in ("numbers", "counts", "flags"):
        np.testing.assert_array_equal(outputs[name], inputs[name])
    assert outputs["data_bytes"].tolist() == [b"\x00\xff"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            {"inputs": {"source": ["a"]}, "model": "other"},
            grpc.StatusCode.NOT_FOUND,
            "Servable not found for request: Latest(other)",
        ),
        (
            {"inputs": {"source": ["a"]}, "model": "../tiny"},
            grpc.StatusCode.NOT_FOUND,
            "Servable not found for request: Latest(../tiny)",
        ),
        (
            {"inputs": {"source": ["a"]}, "version": 2},
            grpc.StatusCode.NOT_FOUND,
            "Servable not found for request: Specific(tiny, 2)",
        ),
        (
            {"inputs": {"source": ["a"]}, "label": "canary"},
            grpc.StatusCode.INVALID_ARGUMENT,
            "Unrecognized servable version label: canary",
        ),
        (
            {"inputs": {"source": ["a"]}, "model": ""},
            grpc.StatusCode.INVALID_ARGUMENT,
            "ModelSpec has no name specified.",
        ),
        (
            {"inputs": {"source": ["a"]}, "signature": "translate"},
            grpc.StatusCode.FAILED_PRECONDITION,
            'Serving signature key "translate" not found.',
        ),
        (
            {"inputs": {}},
            grpc.StatusCode.INVALID_ARGUMENT,
            "input size does not match signature: 0!=1 len({}) != len({source}). "
            "Sent extra: {}. Missing but required: {source}.",
        ),
        (
            {"inputs": {"source": ["a"], "more": ["b"]}},
            grpc.StatusCode.INVALID_ARGUMENT,
            "input size does not match signature: 2!=1 len({more,source}) != len({source}). "
            "Sent extra: {more}. Missing but required: {}.",
        ),
        (
            {"inputs": {"sauce": ["a"]}},
            grpc.StatusCode.INVALID_ARGUMENT,
            "input tensor alias not found in signature: sauce. "
            "Inputs expected to be in the set {source}.",
        ),
        (
            {"inputs": {"source": ["a"]}, "outputs": ["answer"]},
            grpc.StatusCode.INVALID_ARGUMENT,
            "output tensor alias not found in signature: answer "
            "Outputs expected to be in the set {score,target}.",
        ),
        (
            {"inputs": {"source": ["a"]}, "outputs": ["score", "score"]},
            grpc.StatusCode.INVALID_ARGUMENT,
            "duplicate output tensor alias: score",
        ),
        (
            {"inputs": {"source": [1.5]}},
            grpc.StatusCode.INVALID_ARGUMENT,
            "Expects arg[0] to be string but float is provided (input source)",
        ),
    ],
)
def test_a_wrong_request_gets_tf_servings_code_and_words(stub, arguments, code, message):
    assert failure(stub.Predict, request_for(**arguments)) == (code, message)


def test_what_the_graph_rejects_is_the_clients_fault(stub):
    code, message = failure(stub.Predict, request_for({"index": [7]}, signature="pick"))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert message.startswith("indices[0] = 7 is not in [0, 3)")
    assert ".py" not in message and "\n" not in message


def test_a_malformed_tensor_is_named(stub):
    proto = tf.make_tensor_proto([1.0, 2.0])
    proto.tensor_content = b"123"
    code, message = failure(stub.Predict, request_for({"source": proto}))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert message.startswith("tensor parsing error: source")


def test_a_request_without_a_model_spec_is_refused(stub, status_stub):
    bad = grpc.StatusCode.INVALID_ARGUMENT
    assert failure(stub.Predict, predict_pb2.PredictRequest()) == (bad, "Missing ModelSpec")
    empty_status = get_model_status_pb2.GetModelStatusRequest()
    assert failure(status_stub.GetModelStatus, empty_status) == (bad, "Missing ModelSpec")
    empty_metadata = get_model_metadata_pb2.GetModelMetadataRequest()
    assert failure(stub.GetModelMetadata, empty_metadata) == (bad, "Missing ModelSpec")


def test_a_message_as_long_as_the_request_still_arrives(stub):
    code, message = failure(stub.Predict, request_for({"ü" * 100_000: ["a"]}))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert message.startswith("input tensor alias not found in signature: üü")


def test_a_deadline_stops_the_work(stub):
    request = request_for({"steps": np.int64(10**12)}, signature="slow")
    with pytest.raises(grpc.RpcError) as caught:
        stub.Predict(request, timeout=0.3)
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_metadata_holds_the_signatures(stub):
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "tiny"
    response = stub.GetModelMetadata(request)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(signatures)
    assert set(signatures.signature_def) >= {"serving_default", "nbest", "explain", "score"}
    assert set(signatures.signature_def["explain"].outputs) == {
        "target", "score", "source_tokens", "target_tokens", "attention",
    }  # fmt: skip
    assert response.model_spec.version.value == 3


def test_metadata_wants_a_field_that_it_knows(stub):
    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = "tiny"
    assert failure(stub.GetModelMetadata, request) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "GetModelMetadataRequest must specify at least one metadata_field",
    )
    request.metadata_field.append("colour")
    code, message = failure(stub.GetModelMetadata, request)
    assert code == grpc.StatusCode.INVALID_ARGUMENT and "colour" in message


def test_status_lists_the_versions(status_stub):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "tiny"
    rows = status_stub.GetModelStatus(request).model_version_status
    available = get_model_status_pb2.ModelVersionStatus.AVAILABLE
    assert [(row.version, row.state, row.status.error_code) for row in rows] == [
        (3, available, 0),
        (1, available, 0),
    ]
    request.model_spec.version.value = 1
    assert [row.version for row in status_stub.GetModelStatus(request).model_version_status] == [1]


def test_status_of_what_is_not_there(status_stub):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "nobody"
    assert failure(status_stub.GetModelStatus, request) == (
        grpc.StatusCode.NOT_FOUND,
        "Could not find any versions of model nobody",
    )
    request.model_spec.name = "tiny"
    request.model_spec.version.value = 9
    assert failure(status_stub.GetModelStatus, request) == (
        grpc.StatusCode.NOT_FOUND,
        "Could not find version 9 of model tiny",
    )


def test_a_model_without_such_a_signature_says_so(stub):
    task = inference_pb2.InferenceTask(method_name="tensorflow/serving/regress")
    calls = [
        (stub.Classify, classification_pb2.ClassificationRequest()),
        (stub.Regress, regression_pb2.RegressionRequest()),
        (stub.MultiInference, inference_pb2.MultiInferenceRequest(tasks=[task])),
    ]
    for call, request in calls:
        spec = request.tasks[0].model_spec if call is stub.MultiInference else request.model_spec
        spec.name = "tiny"
        request.input.example_list.examples.add()
        code, message = failure(call, request)
        assert code == grpc.StatusCode.INVALID_ARGUMENT
        assert "use Predict" in message


def test_the_health_service_says_that_it_serves(shared_server):
    with grpc.insecure_channel(f"127.0.0.1:{shared_server.port}") as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        for service in ("", "tensorflow.serving.PredictionService"):
            answer = check(health_pb2.HealthCheckRequest(service=service), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_the_health_service_is_right_from_the_first_request(
    start_server, base_path, tmp_path, monkeypatch
):
    said = []

    def start(front):
        said.append(front._health._state)
        real(front)

    real = GrpcFront.start
    monkeypatch.setattr(GrpcFront, "start", start)
    (tmp_path / "empty").mkdir()
    start_server(base_path)
    start_server(tmp_path / "empty")
    states = health_pb2.HealthCheckResponse
    assert said == [states.SERVING, states.NOT_SERVING]


def test_reflection_names_the_services(shared_server):
    with grpc.insecure_channel(f"127.0.0.1:{shared_server.port}") as channel:
        ask = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        answer = next(ask(iter([request]), timeout=10))
        names = {service.name for service in answer.list_services_response.service}
        assert names >= {
            "tensorflow.serving.PredictionService",
            "tensorflow.serving.ModelService",
            "grpc.health.v1.Health",
        }
        wanted = "tensorflow.serving.PredictionService"
        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=wanted)
        answer = next(ask(iter([request]), timeout=10))
        assert answer.file_descriptor_response.file_descriptor_proto


def test_connections_end_at_the_age_that_an_argument_gives(start_server, base_path):
    server = start_server(base_path, grpc_channel_arguments="grpc.max_connection_age_ms=300")
    ended = threading.Event()
    states = []

    def note(state):
        states.append(state)
        if grpc.ChannelConnectivity.READY in states and state is grpc.ChannelConnectivity.IDLE:
            ended.set()

    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        channel.subscribe(note)
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        # Longer than a connection may last: what is under way is answered.
        slow = request_for({"steps": np.int64(300_000)}, signature="slow")
        assert stub.Predict(slow, timeout=60).model_spec.name == "tiny"
        assert ended.wait(20), states
        assert stub.Predict(request_for({"source": ["a"]}), timeout=20).outputs


def test_watchers_leave_room_for_requests(start_server, base_path, monkeypatch):
    monkeypatch.setattr("pairloom.serving.server.grpc_api.MOST_CALLS", 2)
    server = start_server(base_path)
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        health = health_pb2_grpc.HealthStub(channel)
        watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(2)]
        for watch in watches:
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as caught:
            health.Check(health_pb2.HealthCheckRequest(), timeout=10)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        assert stub.Predict(request_for({"source": ["a"]}), timeout=10).outputs
        counted = server._grpc._monitor.metrics.page().decode()
        assert 'request_count{model_name="",status="RESOURCE_EXHAUSTED"} 1' in counted


def test_a_shape_of_millions_does_not_hold_up_others(start_server, base_path):
    server = start_server(base_path)
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        many = tf.make_tensor_proto(["a"])
        many.tensor_shape.dim[0].size = 2_000_000
        request = request_for({"source": many})
        handed_on = []
        pool = server._pools[1]
        submit = pool.submit
        pool.submit = lambda *arguments: (handed_on.append(arguments), submit(*arguments))[1]
        with pytest.raises(grpc.RpcError):
            stub.Predict(request, timeout=0.5)
        assert begun(handed_on) == 1
        stub.Predict(request_for({"source": ["a"]}), timeout=10)
        assert begun(handed_on) == 1


def begun(handed_on):
    """How many requests were; what was computed is handed on too, however late."""
    return sum(function is start_predict for function, *_ in handed_on)
