"""FieldLearner's executor on real artifacts."""

import json

import pytest
import tensorflow as tf
from tfx.types import artifact_utils, standard_artifacts

from pairloom.components.learner.artifacts import LearnedFields
from pairloom.components.learner.executor import Executor
from pairloom.components.pairs.errors import DataError
from pairloom.kinds.learned import read_fields

PAIRS = [("the old dog", "der alte Hund"), ("the new cat", "die neue Katze")] * 20
FIELDS = {"source": {"kind": "text"}, "target": {"kind": "text"}}


@pytest.fixture
def learn(tmp_path):
    """Runs the executor on the pairs; returns the folder it wrote."""

    def learn(fields, vocabularies, name="learned", train=PAIRS):
        examples = standard_artifacts.Examples()
        examples.uri = str(tmp_path / "examples")
        examples.split_names = artifact_utils.encode_split_names(["train", "eval"])
        for split, pairs in (("train", train), ("eval", [("zebra", "Zebra")])):
            folder = tmp_path / "examples" / f"Split-{split}"
            folder.mkdir(parents=True, exist_ok=True)
            with tf.io.TFRecordWriter(str(folder / "data.gz"), "GZIP") as writer:
                for pair in pairs:
                    example = tf.train.Example()
                    for field, text in zip(FIELDS, pair, strict=True):
                        example.features.feature[field].bytes_list.value.append(text.encode())
                    writer.write(example.SerializeToString())
        learned = LearnedFields()
        learned.uri = str(tmp_path / name)
        Executor().Do(
            {"examples": [examples]},
            {"learned": [learned]},
            {"fields": json.dumps(fields), "vocabularies": json.dumps(vocabularies)},
        )
        return tmp_path / name

    return learn


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_each_field_has_a_vocabulary_of_its_own_by_default(learn):
    folder = learn(FIELDS, {})
    assert names(folder) == ["fields.json", "source.learned", "summary.json", "target.learned"]
    summary = json.loads((folder / "summary.json").read_text())
    assert [summary[name]["method"] for name in ("source", "target")] == ["bpe", "bpe"]
    assert [summary[name]["asked"] for name in ("source", "target")] == [8000, 8000]


def test_a_joint_vocabulary_knows_the_words_of_both_sides(learn):
    fields = {name: {"kind": "text", "vocabulary": "joint"} for name in FIELDS}
    folder = learn(fields, {"joint": {"method": "words", "size": 400}})
    assert names(folder) == ["fields.json", "joint.learned", "summary.json"]
    graphs = read_fields(str(folder))
    assert graphs["source"].learned == graphs["target"].learned
    for pair in PAIRS[:2]:
        for text in pair:
            assert len(graphs["source"].subwords.ids([text])[0]) == len(text.split())


def test_a_method_alone_leaves_the_size_at_its_default(learn):
    summary = json.loads(
        (learn(FIELDS, {"source": {"method": "characters"}}) / "summary.json").read_text()
    )
    assert summary["source"]["method"] == "characters"
    assert summary["source"]["asked"] == 8000


def test_the_eval_split_is_not_learned_from(learn):
    folder = learn(FIELDS, {"source": {"method": "words", "size": 300}})
    assert len(read_fields(str(folder))["source"].subwords.ids(["zebra"])[0]) > 1


def test_a_short_vocabulary_is_warned_of(learn, caplog):
    from absl import logging

    logging.use_absl_handler()
    with caplog.at_level("WARNING", logger="absl"):
        learn(FIELDS, {"source": {"method": "bpe", "size": 5000}})
    assert "`source`: the vocabulary has" in caplog.text
    assert "ids, not 5,000" in caplog.text


def test_the_same_examples_give_the_same_bytes(learn):
    first, second = learn(FIELDS, {}, "first"), learn(FIELDS, {}, "second")
    for name in names(first):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_what_cannot_be_learned_names_the_field(learn):
    fields = {"source": {"kind": "text"}, "target": {"kind": "label"}}
    with pytest.raises(DataError, match=r"The field `target` cannot be learned from.*\['Katze'\]"):
        learn(fields, {}, train=[("the cat", "Katze")] * 3)
