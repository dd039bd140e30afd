"""A version is warmed with the requests that it brings along, before it takes any other."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.inference import CLASSIFY, REGRESS
from pairloom.serving.server.model_config import ConfiguredModel
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.version_record import State
from pairloom.serving.server.warmup import replay
from pairloom.serving.warmup_requests import WARMUP_FILE, write_warmup_requests

GOOD = [("serving_default", {"source": ["a"]}), ("explain", {"source": ["a longer one"]})]
NO_SUCH_INPUT = [*GOOD, ("nbest", {"sauce": ["a"]})]


@pytest.fixture(scope="module")
def model(saved_model):
    model = LoadedModel(saved_model)
    yield model
    model.close()


@pytest.fixture
def push(tmp_path, saved_models):
    """Puts a version, with warm-up requests, where a registry looks; gives its folder."""

    def push(version, requests):
        folder = tmp_path / "tiny" / str(version)
        shutil.copytree(saved_models[version], folder)
        write_warmup_requests(str(folder), requests)
        return folder

    return push


def write_records(folder, records):
    path = folder / WARMUP_FILE
    path.parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def empty_log(kind):
    log = prediction_log_pb2.PredictionLog()
    getattr(log, kind).SetInParent()
    return log.SerializeToString()


def predict_log():
    log = prediction_log_pb2.PredictionLog()
    log.predict_log.request.model_spec.signature_name = "pick"
    log.predict_log.request.inputs["index"].CopyFrom(tf.make_tensor_proto([0]))
    return log.SerializeToString()


def example_log(kind, *tasks):
    log = prediction_log_pb2.PredictionLog()
    request = getattr(log, kind).request
    for method, signature in tasks:
        several = kind == "multi_inference_log"
        asked = request.tasks.add(method_name=method) if several else request
        asked.model_spec.signature_name = signature
    example = request.input.example_list.examples.add()
    example.features.feature["x"].float_list.value.append(1.0)
    return log.SerializeToString()


def fails(model, folder):
    with pytest.raises(RequestError) as caught:
        replay(model, folder)
    return caught.value.code, caught.value.message


def test_every_request_is_made(model, tmp_path):
    asked = []

    class Spy:
        def run(self, signature, inputs, output_filter, timeout):
            asked.append((signature, inputs["source"].tolist()))
            return model.run(signature, inputs, output_filter)

    write_warmup_requests(str(tmp_path), GOOD)
    assert replay(Spy(), tmp_path) == 2
    assert asked == [("serving_default", [b"a"]), ("explain", [b"a longer one"])]
    asked.clear()
    assert replay(Spy(), tmp_path, times=3) == 2
    assert [signature for signature, _ in asked] == ["serving_default"] * 3 + ["explain"] * 3


def test_a_folder_without_requests_is_told_from_one_with_none_in_its_file(model, tmp_path):
    assert replay(model, tmp_path) is None
    write_warmup_requests(str(tmp_path), [])
    assert replay(model, tmp_path) == 0


def test_a_request_that_fails_fails_the_warm_up(model, tmp_path):
    write_warmup_requests(str(tmp_path), NO_SUCH_INPUT)
    code, message = fails(model, tmp_path)
    assert code == Code.INVALID_ARGUMENT
    assert "sauce" in message


def test_a_file_that_is_no_tfrecord_is_a_loss_of_data(model, tmp_path):
    (tmp_path / WARMUP_FILE).parent.mkdir()
    (tmp_path / WARMUP_FILE).write_text("a plain text of more than a dozen bytes")
    code, message = fails(model, tmp_path)
    assert code == Code.DATA_LOSS
    assert "Please verify your warmup data is in TFRecord format" in message


def test_a_record_that_is_no_prediction_log_is_named(model, tmp_path):
    write_records(tmp_path, [predict_log(), b"\xff\xff"])
    code, message = fails(model, tmp_path)
    assert code == Code.INVALID_ARGUMENT
    assert "Failed to parse warmup record 2" in message


def test_a_thousand_requests_are_the_most(model, tmp_path):
    record = predict_log()
    write_records(tmp_path, [record] * 1000)
    assert replay(model, tmp_path) == 1000
    write_records(tmp_path, [record] * 1001)
    code, message = fails(model, tmp_path)
    assert code == Code.INVALID_ARGUMENT
    assert "exceeds the maximum (1000)" in message


class Classifier:
    """Has a signature of each kind, and notes what it is asked."""

    def __init__(self):
        self.asked = []
        names = {"regress": ["outputs"], "classify": ["classes"]}
        self.signature_defs = {
            name: SimpleNamespace(inputs=["inputs"], outputs=outputs)
            for name, outputs in names.items()
        }

    def run(self, signature, inputs, output_filter, timeout):
        self.asked.append((signature, len(inputs["inputs"]), output_filter))
        if signature == "regress":
            return {"outputs": np.zeros(1, np.float32)}
        return {"classes": np.array([[b"a"]], np.object_)}


def test_examples_are_classified_and_regressed(tmp_path):
    tasks = (CLASSIFY, "classify"), (REGRESS, "regress")
    records = [
        example_log("classify_log", tasks[0]),
        example_log("regress_log", tasks[1]),
        example_log("multi_inference_log", *tasks),
    ]
    write_records(tmp_path, records)
    classifier = Classifier()
    assert replay(classifier, tmp_path) == 3
    assert classifier.asked == [("classify", 1, ["classes"]), ("regress", 1, ["outputs"])] * 2


@pytest.mark.parametrize("kind", ["classify_log", "regress_log", "multi_inference_log"])
def test_examples_for_a_signature_that_is_not_there_fail_the_warm_up(model, tmp_path, kind):
    write_records(tmp_path, [example_log(kind, (REGRESS, "no such"))])
    assert fails(model, tmp_path) == (
        Code.INVALID_ARGUMENT,
        "No signature was found with the name: no such",
    )


def test_a_session_run_cannot_be_replayed(model, tmp_path):
    write_records(tmp_path, [empty_log("session_run_log")])
    assert fails(model, tmp_path)[0] == Code.UNIMPLEMENTED


def test_a_version_whose_warm_up_fails_leaves_the_old_one_serving(push, tmp_path):
    push(1, GOOD)
    registry = Registry([ConfiguredModel("tiny", tmp_path / "tiny")], quiet_seconds=0)
    try:
        registry.poll()
        assert registry.available("tiny") == [1]
        push(2, NO_SUCH_INPUT)
        registry.poll()
        assert registry.available("tiny") == [1]
        [(_, state, code, message)] = registry.status("tiny", 2)
        assert (state, code) == (State.END, Code.INVALID_ARGUMENT)
        assert "sauce" in message
    finally:
        registry.close()


def test_the_flag_says_how_often_a_server_makes_each_request(
    push, tmp_path, start_server, monkeypatch
):
    from pairloom.serving.server import warmup

    made = []
    monkeypatch.setattr(warmup, "_call", lambda model, log: made.append(log))
    push(1, GOOD)
    start_server(tmp_path / "tiny", num_request_iterations_for_warmup=2)
    assert len(made) == 2 * len(GOOD)


def test_warm_up_can_be_turned_off(push, tmp_path):
    push(1, NO_SUCH_INPUT)
    registry = Registry([ConfiguredModel("tiny", tmp_path / "tiny")], quiet_seconds=0, warm=False)
    try:
        registry.poll()
        assert registry.available("tiny") == [1]
    finally:
        registry.close()
