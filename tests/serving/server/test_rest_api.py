"""REST over loopback, beside gRPC."""

import base64
import http.client
import json
import logging
import socket
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from pairloom.serving import Client
from pairloom.serving.client import ModelNotFound


@pytest.fixture(scope="module")
def ask(shared_server):
    def ask(path, body=None, method=None):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        url = f"http://127.0.0.1:{shared_server.rest_port}{path}"
        request = urllib.request.Request(url, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as error:
            assert error.headers["Content-Type"] == "application/json"
            return error.code, json.loads(error.read())["error"]

    return ask


def test_rows_columns_and_grpc_give_the_same_answer(ask, shared_server):
    texts = ["hi", "grüße 你好", ""]
    with Client(f"127.0.0.1:{shared_server.port}", "tiny") as client:
        answers = client.predict(texts)
    expected = [answer.text for answer in answers]
    scores = [np.float32(answer.score) for answer in answers]

    status, rows = ask("/v1/models/tiny:predict", {"instances": texts})
    assert status == 200
    assert [row["target"] for row in rows["predictions"]] == expected
    assert [np.float32(row["score"]) for row in rows["predictions"]] == scores

    status, columns = ask("/v1/models/tiny:predict", {"inputs": {"source": texts}})
    assert status == 200
    assert columns["outputs"]["target"] == expected
    assert [np.float32(score) for score in columns["outputs"]["score"]] == scores
    assert ask("/v1/models/tiny:predict", {"inputs": texts}) == (200, columns)
    named = {"instances": [{"source": text} for text in texts]}
    assert ask("/v1/models/tiny:predict", named) == (200, rows)


def test_attention_is_the_same_over_rest_and_grpc(ask, shared_server):
    with Client(f"127.0.0.1:{shared_server.port}", "tiny") as client:
        explained = client.explain(["abc"])[0]
    body = {"signature_name": "explain", "inputs": ["abc"]}
    outputs = ask("/v1/models/tiny:predict", body)[1]["outputs"]
    np.testing.assert_array_equal(outputs["attention"][0], explained.attention)
    assert outputs["source_tokens"] == [list(explained.source_tokens)]


def test_bytes_travel_as_base64(ask):
    data = base64.b64encode(b"\x00\xff").decode()
    row = {"numbers": [1, 2.5], "counts": 3, "flags": True, "data": {"b64": data}}
    body = {"signature_name": "echo", "instances": [row]}
    status, answer = ask("/v1/models/tiny:predict", body)
    assert status == 200
    assert answer["predictions"] == [
        {"numbers": [1.0, 2.5], "counts": 3, "flags": True, "data_bytes": {"b64": data}}
    ]


def test_one_output_stands_alone(ask):
    body = {"signature_name": "pick", "instances": [2, 0]}
    assert ask("/v1/models/tiny:predict", body) == (200, {"predictions": [30, 10]})
    body = {"signature_name": "slow", "inputs": 4}
    assert ask("/v1/models/tiny:predict", body) == (200, {"outputs": 6})


def test_bytes_that_are_not_utf8_are_no_obstacle(ask):
    status, answer = ask("/v1/models/tiny:predict", b'{"inputs": ["\xff"]}')
    assert status == 200
    assert answer["outputs"]["target"] == ["3:\ufffd"]


def test_versions_labels_and_default_are_found(ask):
    for path, expected in [
        ("/v1/models/tiny/versions/1", "1:A"),
        ("/v1/models/tiny/versions/3", "3:A"),
        ("/v1/models/tiny/labels/stable", "1:A"),
        ("/v1/models/default", "3:A"),
        ("/V1/MODELS/tiny", "3:A"),
        ("/v1/models/%74iny", "3:A"),
    ]:
        assert ask(f"{path}:predict", {"inputs": ["a"]})[1]["outputs"]["target"] == [expected]


def test_status_reads_as_from_tf_serving(ask):
    fine = {"error_code": "OK", "error_message": ""}
    rows = [
        {"version": "3", "state": "AVAILABLE", "status": fine},
        {"version": "1", "state": "AVAILABLE", "status": fine},
    ]
    assert ask("/v1/models/tiny") == (200, {"model_version_status": rows})
    assert ask("/v1/models/tiny/versions/1") == (200, {"model_version_status": rows[1:]})
    assert ask("/v1/models/tiny/labels/stable") == (200, {"model_version_status": rows[1:]})


def test_metadata_reads_as_from_tf_serving(ask):
    status, answer = ask("/v1/models/tiny/versions/1/metadata")
    assert status == 200
    assert answer["model_spec"] == {"name": "tiny", "signature_name": "", "version": "1"}
    signature = answer["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["source"]["dtype"] == "DT_STRING"
    assert signature["inputs"]["source"]["tensor_shape"] == {
        "dim": [{"size": "-1", "name": ""}],
        "unknown_rank": False,
    }


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("other:predict", {"inputs": []}, 404, "Servable not found for request: Latest(other)"),
        (
            "tiny/versions/2:predict",
            {"inputs": []},
            404,
            "Servable not found for request: Specific(tiny, 2)",
        ),
        ("..%2ftiny:predict", {"inputs": []}, 404, "Latest(../tiny)"),
        ("tiny/../tiny:predict", {"inputs": []}, 400, "Malformed request: POST /v1/models/tiny/"),
        ("tiny/labels/x:predict", {"inputs": []}, 400, "Unrecognized servable version label: x"),
        (f"tiny/versions/{10**30}:predict", {}, 400, "Failed to convert version: 1000"),
        (
            "tiny:predict",
            {"inputs": [], "signature_name": "x"},
            400,
            'Serving signature name: "x" not found in signature def',
        ),
        (
            "tiny:predict",
            {"inputs": [], "signature_name": 4},
            400,
            "'signature_name' key must be a string value.",
        ),
        ("tiny:predict", {"instances": []}, 400, "No values in 'instances' array"),
        ("tiny:predict", {}, 400, "Missing 'inputs' or 'instances' key"),
        ("tiny:predict", {"inputs": [3]}, 400, "JSON Value: 3 Type: Number is not of expected"),
        ("tiny:predict", b"", 400, "JSON Parse error: The document is empty"),
        ("tiny:predict", b"{", 400, "JSON Parse error: "),
        ("tiny:predict", b"[" * 100_000, 400, "JSON Parse error: "),
        ("tiny:predict", b"[1]", 400, "JSON Value: [1] Is not object"),
        ("tiny:regress", {}, 400, "key 'examples' is expected"),
        ("tiny:regress", {"examples": [{}]}, 400, "use Predict"),
        ("tiny:translate", {}, 400, "Malformed request: POST /v1/models/tiny:translate"),
    ],
)
def test_a_wrong_request_gets_tf_servings_status_and_words(ask, path, body, status, message):
    got_status, got_message = ask(f"/v1/models/{path}", body)
    assert got_status == status
    assert message in got_message


def test_other_paths_and_methods(ask):
    assert ask("/nothing")[0] == 404
    assert ask("/v1/models/nobody") == (404, "Could not find any versions of model nobody")
    assert ask("/v1/models/tiny/versions/9") == (404, "Could not find version 9 of model tiny")
    assert ask("/v1/models/nobody/metadata") == (
        404,
        "Servable not found for request: Latest(nobody)",
    )
    assert ask("/v1/models") == (400, "Missing model name in request.")
    assert ask("/v1/models/tiny", {}, "DELETE")[0] == 400
    assert ask("/v1/models/tiny?verbose=1")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/tiny",
        "/v1/models/none",
        "/v1/models/tiny/metadata",
        "/monitoring/prometheus/metrics",
    ],
)
def test_a_head_request_is_a_get_without_the_body(shared_server, path):
    answers = {}
    for method in ("GET", "HEAD"):
        connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
        connection.request(method, path)
        response = connection.getresponse()
        answers[method] = response.status, response.headers["Content-Type"], bool(response.read())
        connection.close()
    assert answers["HEAD"] == (*answers["GET"][:2], False)


def counted(server, model, status):
    url = f"http://127.0.0.1:{server.rest_port}/monitoring/prometheus/metrics"
    with urllib.request.urlopen(url, timeout=20) as response:
        page = response.read().decode()
    name = f':tensorflow:serving:request_count{{model_name="{model}",status="{status}"}} '
    counts = [line.removeprefix(name) for line in page.splitlines() if line.startswith(name)]
    assert "made-up" not in page
    return int(counts[0]) if counts else 0


@pytest.mark.parametrize("name", ["tiny", "default"])
@pytest.mark.parametrize(
    ("choice", "body", "status"),
    [
        ("", b"{", "INVALID_ARGUMENT"),
        ("/versions/9", {"instances": ["a"]}, "NOT_FOUND"),
        ("/versions/99999999999999999999", {"instances": ["a"]}, "INVALID_ARGUMENT"),
    ],
)
def test_errors_are_counted_by_the_model_that_was_asked(
    ask, shared_server, name, choice, body, status
):
    before = counted(shared_server, "tiny", status)
    assert ask(f"/v1/models/{name}{choice}:predict", body)[0] >= 400
    assert counted(shared_server, "tiny", status) == before + 1


def test_models_that_are_not_there_are_counted_as_one(ask, shared_server):
    before = counted(shared_server, "(unknown)", "NOT_FOUND")
    for number in range(3):
        status, _ = ask(f"/v1/models/made-up-{number}:predict", {"instances": ["a"]})
        assert status == 404
    with (
        Client(f"127.0.0.1:{shared_server.port}", "made-up") as client,
        pytest.raises(ModelNotFound),
    ):
        client.predict(source="a")
    assert counted(shared_server, "(unknown)", "NOT_FOUND") == before + 4


class Lines:
    """A server that logs each request, and what it logged."""

    def __init__(self, server, caplog):
        self.server, self._caplog = server, caplog

    def ask(self, method, path, body=b"", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.rest_port, timeout=20)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status

    def read(self):
        details = [record.details for record in self._caplog.records if hasattr(record, "details")]
        self._caplog.clear()
        return [(one["api"], one["model"], one["status"]) for one in details]


@pytest.fixture
def lines(start_server, base_path, caplog):
    caplog.set_level(logging.INFO, "pairloom.serving.requests")
    return Lines(start_server(base_path, log_format="json", max_message_bytes=1000), caplog)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "line"),
    [
        ("GET", "/v1/models/tiny", b"", 200, ("GetModelStatus", "tiny", "OK")),
        ("GET", "/v1/models/tiny/metadata", b"", 200, ("GetModelMetadata", "tiny", "OK")),
        ("GET", "/v1/models/other", b"", 404, ("GetModelStatus", "other", "NOT_FOUND")),
        ("GET", "/v1/models", b"", 400, ("GetModelStatus", "", "INVALID_ARGUMENT")),
        ("POST", "/v1/models/tiny:predict", b"{", 400, ("Predict", "tiny", "INVALID_ARGUMENT")),
        ("POST", "/v1/models/tiny", b"", 400, ("POST /v1/models/tiny", "", "INVALID_ARGUMENT")),
        ("PUT", "/v1/x", b"", 400, ("PUT /v1/x", "", "INVALID_ARGUMENT")),
        ("GET", "/nothing", b"", 404, ("GET /nothing", "", "NOT_FOUND")),
        (
            "POST",
            "/v1/models/tiny:predict",
            b"x" * 1001,
            413,
            ("Predict", "tiny", "INVALID_ARGUMENT"),
        ),
    ],
)
def test_every_request_is_a_line(lines, method, path, body, status, line):
    assert lines.ask(method, path, body) == status
    assert lines.read() == [line]


def test_an_address_that_is_none_is_a_line(lines):
    with socket.create_connection(("127.0.0.1", lines.server.rest_port), timeout=10) as connection:
        connection.sendall(b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 404")
    assert lines.read() == [("GET http://[", "", "NOT_FOUND")]


@pytest.mark.parametrize(
    "path", ["/", "/page/page.js", "/page/models.json", "/monitoring/prometheus/metrics"]
)
def test_the_page_s_files_and_the_metrics_are_no_lines(lines, path):
    assert lines.ask("GET", path) == 200
    assert lines.read() == []


def test_a_client_s_slow_sending_is_not_counted_as_the_server_s_time(lines, caplog):
    body = b'{"instances": ["hi"]}'
    head = "POST /v1/models/tiny:predict HTTP/1.1\r\nHost: [::1]\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", lines.server.rest_port), timeout=10) as connection:
        connection.sendall(head.encode() + body[:5])
        time.sleep(1)
        connection.sendall(body[5:])
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    (milliseconds,) = [record.details["milliseconds"] for record in caplog.records]
    assert milliseconds < 800
