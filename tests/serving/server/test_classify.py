"""Classify, Regress and MultiInference on a TF1 SavedModel, over gRPC and REST."""

import json
import shutil
import urllib.error
import urllib.request

import grpc
import pytest
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    inference_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

from pairloom.serving.server import ModelServer, ServerOptions
from pairloom.serving.server.json_examples import examples_from_json
from pairloom.serving.server.json_tensors import parse_body

CLASSIFY, REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    base = tmp_path_factory.mktemp("half_plus_two") / "half"
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        serialized = v1.placeholder(tf.string, [None])
        spec = {
            "x": tf.io.FixedLenFeature([1], tf.float32),
            "more": tf.io.FixedLenFeature([1], tf.float32, default_value=[0.0]),
        }
        features = tf.io.parse_example(serialized, spec)
        half = v1.get_variable("half", initializer=0.5)
        y = features["x"] * half + 2.0 + features["more"]
        labels = tf.strings.as_string(tf.concat([y, -y], 1), precision=1)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(base / "1"))
        utils = v1.saved_model
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": utils.regression_signature_def(serialized, y),
                "classes": utils.classification_signature_def(
                    serialized, labels, tf.concat([y, -y], 1)
                ),
                "predict": utils.predict_signature_def({"examples": serialized}, {"y": y}),
            },
        )
        builder.save()
    options = ServerOptions(
        model_base_path=str(base), model_name="half", port=0, rest_api_port=0, free_rest_port=True
    )
    with ModelServer(options) as server:
        yield server
    shutil.rmtree(base)


@pytest.fixture(scope="module")
def stub(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield prediction_service_pb2_grpc.PredictionServiceStub(channel)


def fill(request, *values, signature="", more=None):
    request.model_spec.name = "half"
    request.model_spec.signature_name = signature
    examples = request.input.example_list
    if more is not None:
        examples = request.input.example_list_with_context
        examples.context.features.feature["more"].float_list.value.append(more)
    for value in values:
        examples.examples.add().features.feature["x"].float_list.value.append(value)
    return request


def test_regress(stub):
    response = stub.Regress(fill(regression_pb2.RegressionRequest(), 2.0, 4.0), timeout=10)
    assert [row.value for row in response.result.regressions] == [3.0, 4.0]
    assert response.model_spec.version.value == 1


def test_a_context_belongs_to_every_example(stub):
    request = fill(regression_pb2.RegressionRequest(), 2.0, 4.0, more=10.0)
    response = stub.Regress(request, timeout=10)
    assert [row.value for row in response.result.regressions] == [13.0, 14.0]


def test_classify(stub):
    request = fill(classification_pb2.ClassificationRequest(), 2.0, signature="classes")
    (row,) = stub.Classify(request, timeout=10).result.classifications
    assert [(one.label, one.score) for one in row.classes] == [("3.0", 3.0), ("-3.0", -3.0)]


def test_several_at_once(stub):
    request = inference_pb2.MultiInferenceRequest()
    for method, signature in ((REGRESS, ""), (CLASSIFY, "classes")):
        task = request.tasks.add(method_name=method)
        task.model_spec.name, task.model_spec.signature_name = "half", signature
    example = request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.append(2.0)
    first, second = stub.MultiInference(request, timeout=10).results
    assert first.regression_result.regressions[0].value == 3.0
    assert second.classification_result.classifications[0].classes[0].label == "3.0"


def test_the_default_signature_is_asked_once_by_whatever_name(stub):
    request = inference_pb2.MultiInferenceRequest()
    for signature in ("", "serving_default"):
        task = request.tasks.add(method_name=REGRESS)
        task.model_spec.name, task.model_spec.signature_name = "half", signature
    example = request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.append(2.0)
    with pytest.raises(grpc.RpcError, match="Duplicate evaluation of signature: serving_default"):
        stub.MultiInference(request, timeout=10)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (fill(regression_pb2.RegressionRequest(), 1.0, signature="classes"), "one output Tensor"),
        (fill(regression_pb2.RegressionRequest(), 1.0, signature="predict"), "No regression"),
        (fill(regression_pb2.RegressionRequest(), 1.0, signature="no"), "No signature was found"),
        (fill(regression_pb2.RegressionRequest()), "Input is empty"),
        (regression_pb2.RegressionRequest(), "Missing ModelSpec"),
    ],
)
def test_what_does_not_fit_is_named(stub, request_, message):
    with pytest.raises(grpc.RpcError, match=message) as caught:
        stub.Regress(request_, timeout=10)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def rest(server, method, body):
    url = f"http://127.0.0.1:{server.rest_port}/v1/models/half:{method}"
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(url, data, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["error"]


def test_rest(server):
    examples = [{"x": 2.0}, {"x": [4.0]}]
    assert rest(server, "regress", {"examples": examples}) == (200, {"results": [3.0, 4.0]})
    body = {"signature_name": "classes", "context": {"more": 1.0}, "examples": examples[:1]}
    assert rest(server, "classify", body) == (
        200,
        {"results": [[["4.0", 4.0], ["-4.0", -4.0]]]},
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"x": 1},
            "JSON Value: {\"x\": 1} When method is classify, key 'examples' is expected and was "
            "not found",
        ),
        ({"examples": []}, "'examples' value is an empty array"),
        ({"examples": 5}, "Expecting 'examples' value to be an list/array"),
        ({"examples": [3]}, "Example must be JSON object but got JSON Number"),
        ({"examples": [None]}, "Example must be JSON object but got JSON Null"),
        ({"context": True}, "Example must be JSON object but got JSON True"),
        ({"examples": [{"x": None}]}, "Feature: x has element with unexpected JSON type: Null"),
        ({"examples": [{"x": [[1]]}]}, "Feature: x has element with unexpected JSON type: Array"),
        ({"examples": [{"x": {"b": 1}}]}, "has element with unexpected JSON type: Object"),
        (
            {"examples": [{"x": [1.0, "a"]}]},
            "Unexpected element type in feature: x expecting type: float",
        ),
        ({"examples": [{"x": [True, 1, 2.5]}]}, "in feature: x expecting type: int64"),
        ({"examples": [{"x": [{"b64": ""}, 1]}]}, "in feature: x expecting type: bytes"),
        ({"examples": [{"x": 2**63}]}, "Feature: x has uint64 element. Only int64_t is supported."),
        ({"examples": [{"x": 10**400}]}, "without loss"),
        ({"examples": [{"x": "\ud800"}]}, "surrogate"),
        ({"examples": [{"\ud800": 1.0}]}, "name must be UTF-8"),
        (b'{"examples": [{"\xff": 1.0}]}', "name must be UTF-8"),
        ({"examples": [{"x": 2.0}], "signature_name": "\ud800"}, "'signature_name' is not UTF-8"),
        ({"examples": [{"x": 1e39}]}, "without loss"),
        ({"examples": [{"x": 2.0}], "context": {"more": -1e39}}, "without loss"),
    ],
)
def test_rest_names_what_does_not_fit(server, body, expected):
    code, message = rest(server, "regress", body)
    assert code == 400 and expected in message


def test_bytes_that_are_not_utf8_are_a_value_like_any_other():
    given = examples_from_json(parse_body(b'{"examples": [{"x": "\xff\xc3\xa9"}]}'))
    (example,) = given.example_list.examples
    assert example.features.feature["x"].bytes_list.value == [b"\xff\xc3\xa9"]
