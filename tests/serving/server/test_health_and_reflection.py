"""A stop waits for requests, and for nothing that would never end."""

import queue
import time

import grpc
import numpy as np
import pytest
import tensorflow as tf
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

from pairloom.serving.server.event_loop import server_loop

# A second or two of work for the `slow` signature.
STEPS = 150_000


@pytest.fixture
def channel_to():
    channels = []

    def connect(server):
        channels.append(grpc.insecure_channel(f"127.0.0.1:{server.port}"))
        return channels[-1]

    yield connect
    for channel in channels:
        channel.close()


def test_open_streams_do_not_hold_up_a_stop_and_a_request_does(start_server, base_path, channel_to):
    server = start_server(base_path)
    channel = channel_to(server)
    watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
    heard = [next(watch).status]
    # A client that keeps its side open.
    questions: queue.Queue = queue.Queue()
    questions.put(reflection_pb2.ServerReflectionRequest(list_services=""))
    info = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
    answers = info(iter(questions.get, None))
    assert next(answers).list_services_response.service

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "tiny"
    request.model_spec.signature_name = "slow"
    request.inputs["steps"].CopyFrom(tf.make_tensor_proto(np.int64(STEPS)))
    predict = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict
    under_way = predict.future(request, timeout=60)
    time.sleep(0.2)
    assert not under_way.done(), "The request ended before the stop; make it slower."
    started = time.monotonic()
    server.stop()
    assert time.monotonic() - started < 5
    total = tf.make_ndarray(under_way.result(10).outputs["total"])
    assert total == STEPS * (STEPS - 1) // 2
    with pytest.raises(grpc.RpcError):
        heard.extend(answer.status for answer in watch)
    states = health_pb2.HealthCheckResponse
    assert heard == [states.SERVING, states.NOT_SERVING]
    with pytest.raises(grpc.RpcError):
        next(answers)
    questions.put(None)


def test_a_stop_has_one_deadline_for_everything(start_server, base_path):
    server = start_server(base_path, model_config_file_poll_wait_seconds=0.1)
    with server._registry._polling:  # As if a version were being loaded all the time.
        time.sleep(0.3)
        started = time.monotonic()
        server.stop(1.5)
        assert 1 < time.monotonic() - started < 5


def test_a_watcher_that_leaves_takes_no_other_with_it(start_server, base_path, channel_to):
    server = start_server(base_path)
    watches = [
        health_pb2_grpc.HealthStub(channel_to(server)).Watch(health_pb2.HealthCheckRequest())
        for _ in range(2)
    ]
    states = health_pb2.HealthCheckResponse
    assert [next(watch).status for watch in watches] == [states.SERVING] * 2
    watches[0].cancel()
    time.sleep(0.2)
    server._grpc.say_healthy(False)
    assert next(watches[1]).status == states.NOT_SERVING


def test_what_is_said_after_the_end_reaches_nobody_and_breaks_nothing(
    start_server, base_path, channel_to
):
    server = start_server(base_path)
    watch = health_pb2_grpc.HealthStub(channel_to(server)).Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    server.stop()
    server._grpc.say_healthy(True)
    with pytest.raises(grpc.RpcError):
        assert [answer.status for answer in watch] == [health_pb2.HealthCheckResponse.NOT_SERVING]
        next(watch)


def test_a_stream_that_begins_during_the_stop_is_ended_too(start_server, base_path, channel_to):
    server = start_server(base_path)
    channel = channel_to(server)
    # As the stop does, once it has looked which streams there are.
    server_loop().call(server._grpc._streams.end)
    watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=20)
    info = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo
    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    for stream in (watch, info(asked, timeout=20)):
        with pytest.raises(grpc.RpcError) as caught:
            list(stream)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_many_questions_on_one_stream_are_answered_in_turn(start_server, base_path, channel_to):
    info = reflection_pb2_grpc.ServerReflectionStub(
        channel_to(start_server(base_path))
    ).ServerReflectionInfo
    names = ["tensorflow.serving.PredictionService", "nothing.There"] * 100
    questions = (reflection_pb2.ServerReflectionRequest(file_containing_symbol=n) for n in names)
    found = [answer.HasField("error_response") for answer in info(questions, timeout=30)]
    assert found == [False, True] * 100
