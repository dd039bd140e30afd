import pytest
import tensorflow as tf

from pairloom.components.transform.preprocessing import preprocessing_fn
from pairloom.kinds.learned import read_fields, write_fields
from pairloom.kinds.text.learning import learn_subwords

TEXTS = ["a dog", "ein hund, é", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    folder = str(tmp_path_factory.mktemp("learned"))
    model = learn_subwords({"a": 3, "dog": 2, "hund": 2}, "bpe", 280).model
    names = {"source": "joint", "target": "joint"}
    write_fields(folder, dict.fromkeys(names, {"kind": "text"}), names, {"joint": model})
    return folder


def as_feature(shape: str):
    column = tf.constant(TEXTS)[:, None]
    return {"flat": column[:, 0], "column": column, "sparse": tf.sparse.from_dense(column)}[shape]


@pytest.mark.parametrize("shape", ["flat", "column", "sparse"])
def test_text_becomes_ids_and_their_number_however_the_schema_shapes_it(folder, shape):
    feature = as_feature(shape)
    outputs = preprocessing_fn({"source": feature, "target": feature}, {"learned": folder})
    expected = read_fields(folder)["source"].subwords.ids(tf.constant(TEXTS)).to_list()
    assert set(outputs) == {"source", "source_length", "target", "target_length"}
    for name in ("source", "target"):
        assert outputs[name].to_list() == expected
        assert outputs[name].dtype == tf.int64
        assert outputs[f"{name}_length"].numpy().tolist() == [len(row) for row in expected]
        assert outputs[f"{name}_length"].dtype == tf.int64


def test_other_features_are_left_out(folder):
    column = as_feature("column")
    inputs = {"source": column, "target": column, "comment": column}
    assert "comment" not in preprocessing_fn(inputs, {"learned": folder})


@pytest.mark.parametrize("sparse", [True, False])
def test_every_kind_s_own_graph_is_run(tmp_path, sparse):
    fields = {"mood": {"kind": "label"}, "x": {"kind": "numbers", "standardize": True}}
    learned = {"mood": b'["good", "bad"]', "x": b'{"mean": [1, 2], "deviation": [1, 4]}'}
    write_fields(str(tmp_path), fields, {name: name for name in fields}, learned)
    inputs = {"mood": tf.constant([["bad"], ["good"]]), "x": tf.constant([[1.0, 6.0], [3.0, 2.0]])}
    if sparse:
        inputs = {name: tf.sparse.from_dense(value) for name, value in inputs.items()}
    outputs = preprocessing_fn(inputs, {"learned": str(tmp_path)})
    assert outputs["mood"].numpy().tolist() == [1, 0]
    assert outputs["x"].numpy().tolist() == [[0.0, 1.0], [2.0, 0.0]]
