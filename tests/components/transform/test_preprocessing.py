import json

import pytest
import tensorflow as tf

from pairloom.components.subwords.learning import learn_subwords
from pairloom.components.transform.preprocessing import preprocessing_fn
from pairloom.models.text.subwords import read_subwords

TEXTS = ["a dog", "ein hund, é", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("subwords")
    model = learn_subwords({"a": 3, "dog": 2, "hund": 2}, "bpe", 280).model
    (folder / "joint.model").write_bytes(model)
    (folder / "vocabularies.json").write_text(json.dumps({"source": "joint", "target": "joint"}))
    return str(folder)


def as_feature(shape: str):
    column = tf.constant(TEXTS)[:, None]
    return {"flat": column[:, 0], "column": column, "sparse": tf.sparse.from_dense(column)}[shape]


@pytest.mark.parametrize("shape", ["flat", "column", "sparse"])
def test_text_becomes_ids_and_their_number_however_the_schema_shapes_it(folder, shape):
    feature = as_feature(shape)
    outputs = preprocessing_fn({"source": feature, "target": feature}, {"subwords": folder})
    expected = read_subwords(folder)["source"].ids(tf.constant(TEXTS)).to_list()
    assert set(outputs) == {"source", "source_length", "target", "target_length"}
    for name in ("source", "target"):
        assert outputs[name].to_list() == expected
        assert outputs[name].dtype == tf.int64
        assert outputs[f"{name}_length"].numpy().tolist() == [len(row) for row in expected]
        assert outputs[f"{name}_length"].dtype == tf.int64


def test_other_features_are_left_out(folder):
    column = as_feature("column")
    inputs = {"source": column, "target": column, "comment": column}
    assert "comment" not in preprocessing_fn(inputs, {"subwords": folder})
