import shutil
import time

import numpy as np
import pytest
import tensorflow as tf

from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.saved_model import LoadedModel, SessionSettings, shape_text
from pairloom.serving.server.streams import Streams
from pairloom.serving.server.warmup import client_signatures, warm_up


@pytest.fixture(scope="module")
def model(saved_model):
    model = LoadedModel(saved_model)
    yield model
    model.close()


def texts(*values):
    return {"source": np.array(values, np.object_)}


def test_it_answers_as_the_savedmodel_does(model, saved_model):
    expected = tf.saved_model.load(str(saved_model)).signatures["explain"](
        source=tf.constant(["abc", "ü"])
    )
    outputs = model.run("explain", texts("abc", "ü".encode()))
    assert set(outputs) == set(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(outputs[name], value.numpy())


def test_two_versions_in_one_process_keep_their_own_variables(model, saved_models):
    other = LoadedModel(saved_models[2])
    try:
        assert model.run("serving_default", texts(b"a"))["target"].tolist() == [b"1:A"]
        assert other.run("serving_default", texts(b"a"))["target"].tolist() == [b"2:A"]
    finally:
        other.close()
    assert model.run("serving_default", texts(b"a"))["target"].tolist() == [b"1:A"]


def test_a_timeout_stops_the_graph(model):
    start = time.monotonic()
    with pytest.raises(RequestError) as caught:
        model.run("slow", {"steps": np.int64(10**12)}, timeout=0.2)
    assert caught.value.code == Code.DEADLINE_EXCEEDED
    assert time.monotonic() - start < 5
    with pytest.raises(RequestError) as caught:
        model.run("slow", {"steps": np.int64(1)}, timeout=0)
    assert caught.value.code == Code.DEADLINE_EXCEEDED


def test_the_initialiser_is_no_signature_to_call(model):
    with pytest.raises(RequestError, match="not a dense tensor") as caught:
        model.run("__saved_model_init_op", {})
    assert caught.value.code == Code.UNIMPLEMENTED


def test_warm_up_calls_what_clients_call_the_default_first(model):
    signatures = client_signatures(model)
    assert signatures[0] == "serving_default"
    assert set(signatures) == set(model.signature_defs) - {"evaluate", "__saved_model_init_op"}
    assert warm_up(model, signatures) == signatures


def test_warm_up_survives_a_signature_that_fails(model):
    # A blank is no serialized example.
    assert warm_up(model, ["evaluate", "nbest"]) == ["nbest"]


def test_warm_up_finds_a_model_whose_variables_have_no_values(tmp_path):
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None])
        kept = v1.get_variable("kept", initializer=1.0)
        lost = v1.get_variable("lost", initializer=1.0)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": x + kept + lost})
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, saver=v1.train.Saver([kept])
        )
        builder.save()
    model = LoadedModel(tmp_path / "m")
    with pytest.raises(RequestError) as caught:
        warm_up(model, client_signatures(model))
    assert caught.value.code == Code.FAILED_PRECONDITION
    model.close()


def test_a_tf1_savedmodel_with_two_signatures_is_served(tmp_path):
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None])
        half = v1.get_variable("half", initializer=0.5, use_resource=False)
        plus_two, plus_three = x * half + 2.0, x * half + 3.0
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        signature = v1.saved_model.predict_signature_def
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": signature({"x": x}, {"y": plus_two}),
                "three": signature({"x": x}, {"y": plus_three}),
            },
        )
        builder.save()
    model = LoadedModel(tmp_path / "m")
    x = np.array([2.0], np.float32)
    assert model.run("serving_default", {"x": x})["y"].tolist() == [3.0]
    assert model.run("three", {"x": x})["y"].tolist() == [4.0]
    model.close()


def test_a_model_with_tf_text_ops_is_served(tmp_path):
    import tensorflow_text as tf_text

    class Splitter(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="source")])
        def split(self, source):
            return {"words": tf_text.WhitespaceTokenizer().tokenize(source).to_tensor("")}

    module = Splitter()
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": module.split})
    model = LoadedModel(tmp_path)
    assert model.run("serving_default", texts(b"a b"))["words"].tolist() == [[b"a", b"b"]]
    model.close()


def test_a_sparse_input_is_unimplemented_and_the_rest_works(tmp_path):
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        sparse = v1.sparse_placeholder(tf.float32, [None, 3])
        x = v1.placeholder(tf.float32, [None])
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        signature = v1.saved_model.predict_signature_def
        total = tf.sparse.reduce_sum(sparse)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "sparse": signature({"x": sparse}, {"y": total}),
                "dense": signature({"x": x}, {"y": x + 1.0}),
            },
        )
        builder.save()
    model = LoadedModel(tmp_path / "m")
    x = np.array([1.0], np.float32)
    assert model.run("dense", {"x": x})["y"].tolist() == [2.0]
    with pytest.raises(RequestError, match="not a dense tensor") as caught:
        model.run("sparse", {"x": x})
    assert caught.value.code == Code.UNIMPLEMENTED
    model.close()


def test_a_folder_that_is_no_savedmodel_or_has_other_tags_is_refused(tmp_path, saved_model):
    with pytest.raises(OSError, match="does not exist"):
        LoadedModel(tmp_path)
    with pytest.raises(RuntimeError, match="tags"):
        LoadedModel(saved_model, SessionSettings(tags=("train",)))


def test_a_model_computes_in_its_streams(saved_model):
    streams = Streams(count=1, threads=2)
    model = LoadedModel(saved_model, SessionSettings(intra_op_threads=2, streams=streams))
    assert model.run("serving_default", texts(b"a"))["target"].tolist() == [b"1:A"]
    with streams.take(), pytest.raises(RequestError) as caught:
        model.run("serving_default", texts(b"a"), timeout=0.1)
    assert caught.value.code == Code.DEADLINE_EXCEEDED
    assert model.run("serving_default", texts(b"b"))["target"].tolist() == [b"1:B"]
    model.close()


def test_who_has_gone_when_the_turn_comes_is_not_computed(model):
    request = model.check("serving_default", texts(b"a"))
    with pytest.raises(RequestError) as caught:
        model.compute(request, Call(active=lambda: False))
    assert caught.value.code == Code.CANCELLED


@pytest.mark.parametrize("source", [[[b"a", b"b"]], b"a"])
def test_the_shapes_that_a_model_of_ours_states_hold(saved_model, tmp_path, source):
    ours = tmp_path / "ours"
    shutil.copytree(saved_model, ours)
    (ours / DESCRIPTION_FILE).parent.mkdir()
    described = Description((Field("source", "text"),), Field("target", "text"))
    (ours / DESCRIPTION_FILE).write_text(described.to_json())
    model = LoadedModel(ours)
    array = np.array(source, object)
    with pytest.raises(RequestError, match=r"Expects arg\[0\] to have shape \[\?\] but shape"):
        model.run("serving_default", {"source": array})
    model.close()


def test_those_that_another_model_states_do_not_as_in_tf_serving(model):
    answer = model.run("serving_default", {"source": np.array([[b"a", b"b"]], object)}, ["target"])
    assert answer["target"].tolist() == [[b"1:A", b"1:B"]]
    answer = model.run("serving_default", {"source": np.array(b"a", object)})
    assert answer["target"].shape == () and answer["target"].item() == b"1:A"


def test_an_input_may_be_an_output(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None])
        signature = v1.saved_model.predict_signature_def({"x": x}, {"x": x, "twice": 2 * x})
        builder = v1.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()
    model = LoadedModel(tmp_path / "model")
    answer = model.run("serving_default", {"x": np.array([3.0], np.float32)})
    assert (answer["x"].tolist(), answer["twice"].tolist()) == ([3.0], [6.0])
    model.close()


def test_shapes_are_shown_with_question_marks():
    assert shape_text((None, 3)) == "[?,3]"
    assert shape_text(()) == "[]"
