"""What once stopped a server, asked of one that must go on."""

import gzip
import http.client
import json
import socket
import threading
import time

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

from pairloom.serving import Client, wire
from pairloom.serving.client import BadRequest
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server.errors import RequestError
from pairloom.serving.server.json_tensors import MOST_ELEMENTS, inputs_from_json, parse_body
from pairloom.serving.server.servable import MOST_ROWS
from pairloom.serving.server.streams import Streams
from pairloom.serving.server.tensors import arrays_from_protos, stated_size

PREDICT = "/v1/models/tiny:predict"


def asked_on_grpc(server, request, timeout=30):
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.Predict(request, timeout=timeout)
    return caught.value.code(), caught.value.details()


def post(server, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=60)
    connection.request("POST", PREDICT, body, headers)
    response = connection.getresponse()
    answer = response.read().decode()
    connection.close()
    return response.status, answer


def slow_request(steps):
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = "tiny", "slow"
    request.inputs["steps"].CopyFrom(tf.make_tensor_proto(np.int64(steps)))
    return request


def of_60000_axes(tensor):
    for _ in range(60_000):
        tensor.tensor_shape.dim.add(size=2**62)
    return tensor


def test_a_shape_of_thousands_of_axes_is_refused_before_it_is_multiplied(shared_server):
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "tiny"
    of_60000_axes(request.inputs["source"]).dtype = 7
    started = time.monotonic()
    code, message = asked_on_grpc(shared_server, request)
    assert time.monotonic() - started < 3
    assert code is grpc.StatusCode.INVALID_ARGUMENT and "60000 axes" in message


def test_whoever_reads_a_shape_looks_at_its_length_first():
    started = time.monotonic()
    for dtype in (tf.string, tf.float32, tf.bfloat16, tf.complex64):
        tensor = of_60000_axes(tf.make_tensor_proto(0).__class__(dtype=dtype.as_datatype_enum))
        assert stated_size(tensor) == 0
        with pytest.raises(RequestError, match="axes"):
            arrays_from_protos({"x": tensor})
    with pytest.raises(ValueError, match="60000 axes"):
        wire.array(of_60000_axes(wire.Tensor(dtype=1)))
    assert time.monotonic() - started < 3


def test_a_small_body_that_unpacks_to_a_large_one_is_refused(shared_server):
    body = gzip.compress(b'{"instances": [' + b"[]," * 5_000_000 + b"[]]}")
    assert len(body) < 20_000
    started = time.monotonic()
    status, answer = post(shared_server, body, **{"Content-Encoding": "gzip"})
    assert time.monotonic() - started < 3
    assert status == 413 and "when unpacked" in answer


def test_a_body_of_millions_of_lists_is_refused_before_it_is_parsed(shared_server):
    started = time.monotonic()
    status, answer = post(shared_server, b'{"instances": [' + b"[]," * 2_000_000 + b"[]]}")
    assert time.monotonic() - started < 3
    assert status == 400 and f"over the limit of {MOST_ELEMENTS}" in answer


def test_a_body_over_the_limit_of_json_is_refused(shared_server):
    status, answer = post(shared_server, b'{"instances": ["' + b"x" * 17_000_000 + b'"]}')
    assert status == 413 and "16777216" in answer


def test_a_large_photo_in_base64_is_no_attack(shared_server):
    body = json.dumps({"instances": [{"b64": "YWFh" * 3_000_000}]})
    assert post(shared_server, body)[0] == 200


def test_reading_ends_when_nobody_waits_any_more():
    looks = []

    def check():
        looks.append(1)
        if len(looks) > 10:
            raise RequestError(4, "Deadline exceeded.")

    document = parse_body(json.dumps({"instances": [[1.0]] * 1000}).encode())
    with pytest.raises(RequestError, match="Deadline"):
        inputs_from_json(document, {"x": 1}, check)
    assert len(looks) == 11


def describe(base_path, **more):
    fields = Description(
        (Field("source", "text", "source_tokens"),), Field("target", "text"), **more
    )
    file = base_path / "1" / DESCRIPTION_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text(fields.to_json())


def test_rows_are_limited_where_each_costs_a_search(start_server, base_path):
    describe(base_path)
    server = start_server(base_path)
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert len(client.predict(["a"] * MOST_ROWS)) == MOST_ROWS
        with pytest.raises(BadRequest, match=r"3000 rows; .* at most 256 .*--max_rows"):
            client.predict(["a"] * 3000)
    assert post(server, json.dumps({"instances": ["a"] * 3000}))[0] == 400


def test_rows_are_limited_by_the_flag_before_they_are_read(start_server, base_path):
    server = start_server(base_path, max_rows=2)
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "tiny"
    many = request.inputs["source"]
    many.dtype = 7
    many.tensor_shape.dim.add(size=2**62)
    assert "--max_rows" in asked_on_grpc(server, request)[1]


def test_a_text_is_no_longer_than_those_that_the_model_learned_from(start_server, base_path):
    describe(base_path, longest=10, axes={"source_tokens": ("source",)})
    server = start_server(base_path)
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert client.predict(["ü" * 10])
        with pytest.raises(BadRequest, match="at most 40 .*--max_input_bytes"):
            client.predict(["x" * 41])


def test_nothing_is_computed_longer_than_the_flag_says(start_server, base_path):
    server = start_server(base_path, max_computing_seconds=1, grpc_max_threads=1)
    started = time.monotonic()
    code, _ = asked_on_grpc(server, slow_request(10**12), timeout=None)
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert client.predict("a")[0].text == "1:A"
    # Without the limit it would take days.
    assert time.monotonic() - started < 60


def test_what_a_client_left_behind_tells_in_the_server_s_health(
    start_server, base_path, monkeypatch
):
    monkeypatch.setattr("pairloom.serving.server.server._STUCK_SECONDS", 0.3)
    server = start_server(base_path, grpc_max_threads=1, max_computing_seconds=2)
    assert server.healthy()
    asker = threading.Thread(target=asked_on_grpc, args=(server, slow_request(10**12)))
    asker.start()
    until = time.monotonic() + 5
    while server.healthy() and time.monotonic() < until:
        time.sleep(0.05)
    assert not server.healthy()
    asker.join()
    assert server.healthy()


def test_streams_that_come_and_go_are_not_stuck():
    streams = Streams(2)
    with streams.take():
        time.sleep(0.05)
        assert not streams.stuck(0.01)
        with streams.take():
            assert not streams.stuck(0.01)
            time.sleep(0.05)
            assert streams.stuck(0.01)
    assert not streams.stuck(0)


SMUGGLED = [
    b"5;" + b"x" * 2000 + b"\r\nhello\r\n0\r\n\r\n",
    b"5\nhello\n0\n\n",
    b"0\r\nFoo : bar\r\n\r\n",
    b"0\r\n \r\n \r\n\r\n",
]
HEAD = b"POST /v1/models/tiny:predict HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "request_line_and_headers",
    [
        HEAD + b"Foo : bar\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"nocolon\r\nContent-Length: 0\r\n\r\n",
        HEAD + b"Foo: a\rb\r\nContent-Length: 0\r\n\r\n",
        *(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks for chunks in SMUGGLED),
    ],
    ids=["blank before the colon", "no colon", "bare CR", "long extension", "bare LF in chunks",
         "blank in a trailer", "trailers of blanks"],
)  # fmt: skip
def test_unclear_http_is_answered_once_and_closed(shared_server, request_line_and_headers):
    hidden = b"GET /v1/models/tiny HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", shared_server.rest_port), timeout=10) as connection:
        connection.sendall(request_line_and_headers + hidden)
        connection.settimeout(2)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
            closed = True
        except TimeoutError:
            closed = False
    if b"long" in request_line_and_headers or b"xxxx" in request_line_and_headers:
        # An extension is of no account: this is a body, and the next request is another one.
        assert answer.count(b"HTTP/1.1 ") == 2 and not closed
        return
    assert closed and answer.count(b"HTTP/1.1 ") == 1
    assert answer.startswith(b"HTTP/1.1 400")
