import pytest
import tensorflow as tf

from pairloom.kinds.learned import read_fields, write_fields

FIELDS = {
    "source": {"kind": "text", "vocabulary": "joint"},
    "target": {"vocabulary": "joint"},
    "mood": {"kind": "label"},
}
NAMES = {"source": "joint", "target": "joint", "mood": "mood"}


@pytest.fixture
def folder(tmp_path, subword_model):
    learned = {"joint": subword_model, "mood": b'["good", "bad"]'}
    write_fields(str(tmp_path), FIELDS, NAMES, learned)
    return tmp_path


def test_each_field_has_its_kind_s_graph_again(folder):
    graphs = read_fields(str(folder))
    assert list(graphs) == ["source", "target", "mood"]
    assert [graph.field for graph in graphs.values()] == list(graphs)
    assert graphs["source"].options == FIELDS["source"]
    assert graphs["mood"].labels == ["good", "bad"]


def test_what_several_fields_share_is_written_once(folder):
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["fields.json", "joint.learned", "mood.learned"]
    graphs = read_fields(str(folder))
    texts = tf.constant(["a small dog"])
    assert graphs["source"].tensor(texts).numpy().tolist() == (
        graphs["target"].tensor(texts).numpy().tolist()
    )


def test_the_bytes_are_those_that_were_learned(folder, subword_model):
    assert (folder / "joint.learned").read_bytes() == subword_model


def test_a_folder_without_fields_says_what_it_should_be(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a folder that FieldLearner wrote"):
        read_fields(str(tmp_path))
