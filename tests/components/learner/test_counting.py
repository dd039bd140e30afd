from collections import Counter

import apache_beam as beam
import pytest
import tensorflow as tf
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from pairloom.components.learner import counting
from pairloom.components.learner.counting import CountValues, learned_names, read_counts

PAIRS = [("a dog", "ein hund"), ("a cat", "eine katze"), ("two dogs a", "zwei hunde ein")] * 5


@pytest.fixture
def shards(tmp_path):
    """The pairs in three files, one of them not compressed."""
    paths = []
    for number in range(3):
        path = tmp_path / f"data-{number}{'.gz' if number else ''}"
        with tf.io.TFRecordWriter(str(path), "GZIP" if number else "") as writer:
            for pair in PAIRS[number::3]:
                example = tf.train.Example()
                for name, text in zip(("source", "target"), pair, strict=True):
                    example.features.feature[name].bytes_list.value.append(text.encode())
                writer.write(example.SerializeToString())
        paths.append(str(path))
    return paths


def count(paths, fields, folder, workers=1):
    folder.mkdir()
    options = PipelineOptions()
    options.view_as(DirectOptions).direct_num_workers = workers
    options.view_as(DirectOptions).direct_running_mode = "multi_threading"
    with beam.Pipeline("DirectRunner", options) as pipeline:
        _ = pipeline | beam.Create(paths) | CountValues(fields, str(folder))


def texts(source, target):
    """Two fields of texts with these vocabularies."""
    return {
        "source": {"kind": "text", "vocabulary": source},
        "target": {"kind": "text", "vocabulary": target},
    }


def words(side):
    return Counter(word for pair in PAIRS for word in pair[side].split())


@pytest.mark.parametrize("workers", [1, 3])
def test_words_are_counted_for_each_vocabulary(shards, tmp_path, workers):
    count(shards, texts("en", "de"), tmp_path / "counts", workers)
    assert read_counts(str(tmp_path / "counts"), "en") == words(0)
    assert read_counts(str(tmp_path / "counts"), "de") == words(1)


def test_a_joint_vocabulary_counts_both_sides(shards, tmp_path):
    count(shards, texts("joint", "joint"), tmp_path / "counts")
    assert read_counts(str(tmp_path / "counts"), "joint") == words(0) + words(1)


def test_a_full_table_is_sent_on_and_nothing_is_lost(shards, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MOST_HELD", 1)
    count(shards, texts("joint", "joint"), tmp_path / "counts")
    assert read_counts(str(tmp_path / "counts"), "joint") == words(0) + words(1)


def test_a_field_has_the_vocabulary_of_its_own_name_by_default():
    fields = {"source": {"kind": "text", "vocabulary": "joint"}, "target": {"kind": "text"}}
    assert learned_names(fields) == {"source": "joint", "target": "target"}


def test_a_vocabulary_cannot_leave_its_folder():
    with pytest.raises(ValueError, match="must do as a file name"):
        learned_names({"source": {"vocabulary": "../x"}})


def test_every_kind_counts_its_own(tmp_path):
    path = tmp_path / "data.gz"
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for number in (1.0, 2.0, 4.0):
            example = tf.train.Example()
            features = example.features.feature
            features["label"].bytes_list.value.append(b"even" if number > 1 else b"odd")
            features["vector"].float_list.value.extend([number, 0.0])
            features["document"].bytes_list.value.append(b"a dog\na cat\n")
            writer.write(example.SerializeToString())
    kinds = {"label": "label", "vector": "numbers", "document": "texts"}
    count([str(path)], {name: {"kind": kind} for name, kind in kinds.items()}, tmp_path / "counts")
    folder = str(tmp_path / "counts")
    assert read_counts(folder, "label") == {"odd": 1, "even": 2}
    assert read_counts(folder, "document") == {"a": 6, "dog": 3, "cat": 3}
    vector = read_counts(folder, "vector")
    assert (vector["width 2"], vector["sum 0"], vector["square 0"]) == (3, 7.0, 21.0)
    assert vector["sum 1"] == 0
