"""What stock TF Serving 2.16 answers, to the letter."""

import shutil
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis import classification_pb2, regression_pb2

from pairloom.serving import Client
from pairloom.serving.server import ModelServer, ServerOptions, ServingError
from pairloom.serving.server.batching import batch_rows
from pairloom.serving.server.errors import RequestError
from pairloom.serving.server.json_examples import json_from_classes, json_from_values
from pairloom.serving.server.json_tensors import inputs_from_json, parse_body
from pairloom.serving.server.saved_model import Endpoint, LoadedModel, Request
from pairloom.serving.server.warmup import warm_first

FLOAT = {"x": types_pb2.DT_FLOAT}


@pytest.mark.parametrize("number", ["1700000000", "16777217", "-9007199254740993", "Infinity"])
def test_a_float_input_takes_large_numbers(number):
    document = parse_body(f'{{"instances": [{number}]}}'.encode())
    [value] = inputs_from_json(document, FLOAT)["x"]
    assert value == np.float32(float(number))


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e39", "1" + "0" * 400])
def test_a_number_that_no_float_holds_is_refused(number):
    with pytest.raises(RequestError, match="too big|without loss"):
        inputs_from_json(parse_body(f'{{"instances": [{number}]}}'.encode()), FLOAT)


def test_scores_and_values_are_written_short():
    classes = classification_pb2.ClassificationResponse()
    classes.result.classifications.add().classes.add(label="a", score=2.2)
    assert b"2.2\n" in json_from_classes(classes)
    values = regression_pb2.RegressionResponse()
    values.result.regressions.add(value=2.2)
    assert b"2.2\n" in json_from_values(values)


def test_batching_wants_inputs_that_are_equally_many():
    point = Endpoint(None, types_pb2.DT_FLOAT, (None,))
    inputs = {"a": np.zeros(2, np.float32), "b": np.zeros(3, np.float32)}
    request = Request("s", inputs, {"a": point, "b": point}, {"y": point})
    with pytest.raises(RequestError, match="must all have equal 0th-dimension size"):
        batch_rows(request)


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    """A model that counts how often it was asked."""

    class Counter(tf.Module):
        def __init__(self):
            self.count = tf.Variable(0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="source")])
        def ask(self, source):
            return {"count": tf.fill(tf.shape(source), self.count.assign_add(1))}

    module = Counter()
    folder = tmp_path_factory.mktemp("counter") / "1"
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.ask})
    return folder


def test_warm_up_leaves_alone_what_answers_change(counter, saved_model):
    model = LoadedModel(counter)
    assert model.changes("serving_default")
    warm_first(model, counter)
    assert model.run("serving_default", {"source": np.array([b"a"], object)})["count"] == [1]
    model.close()
    other = LoadedModel(saved_model)
    assert not any(map(other.changes, other.signature_defs.keys() - {"__saved_model_init_op"}))
    other.close()


def test_a_server_whose_first_model_fails_for_good_ends(tmp_path):
    (tmp_path / "m" / "1").mkdir(parents=True)
    (tmp_path / "m" / "1" / "saved_model.pb").write_bytes(b"not a model")
    options = ServerOptions(
        str(tmp_path / "m"),
        port=0,
        rest_api_port=0,
        max_num_load_retries=1,
        load_retry_interval_micros=1000,
        file_system_poll_wait_seconds=0.1,
    )
    with pytest.raises(ServingError, match="did not become available.*--max_num_load_retries"):
        ModelServer(options).start()


def test_without_that_flag_it_waits_for_a_better_one(start_server, tmp_path, saved_model):
    base = tmp_path / "m"
    (base / "1").mkdir(parents=True)
    (base / "1" / "saved_model.pb").write_bytes(b"not a model")
    server = start_server(base)
    shutil.copytree(saved_model, base / "2")
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        for _ in range(200):
            if server.healthy():
                break
            time.sleep(0.05)
        assert client.predict("a")[0].text == "1:A"
