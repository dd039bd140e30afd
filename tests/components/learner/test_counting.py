from collections import Counter

import apache_beam as beam
import pytest
import tensorflow as tf
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from pairloom.components.subwords import counting
from pairloom.components.subwords.counting import CountWords, read_counts
from pairloom.components.subwords.executor import vocabularies_of

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


def count(paths, vocabularies, folder, workers=1):
    folder.mkdir()
    kinds = dict.fromkeys(vocabularies, "text")
    options = PipelineOptions()
    options.view_as(DirectOptions).direct_num_workers = workers
    options.view_as(DirectOptions).direct_running_mode = "multi_threading"
    with beam.Pipeline("DirectRunner", options) as pipeline:
        _ = pipeline | beam.Create(paths) | CountWords(vocabularies, kinds, str(folder))


def words(side):
    return Counter(word for pair in PAIRS for word in pair[side].split())


@pytest.mark.parametrize("workers", [1, 3])
def test_words_are_counted_for_each_vocabulary(shards, tmp_path, workers):
    count(shards, {"source": "en", "target": "de"}, tmp_path / "counts", workers)
    assert read_counts(str(tmp_path / "counts"), "en") == words(0)
    assert read_counts(str(tmp_path / "counts"), "de") == words(1)


def test_a_joint_vocabulary_counts_both_sides(shards, tmp_path):
    count(shards, {"source": "joint", "target": "joint"}, tmp_path / "counts")
    assert read_counts(str(tmp_path / "counts"), "joint") == words(0) + words(1)


def test_a_full_table_is_sent_on_and_nothing_is_lost(shards, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MOST_HELD", 1)
    monkeypatch.setattr(counting, "BATCH", 2)
    count(shards, {"source": "joint", "target": "joint"}, tmp_path / "counts")
    assert read_counts(str(tmp_path / "counts"), "joint") == words(0) + words(1)


def test_a_field_has_the_vocabulary_of_its_own_name_by_default():
    fields = {"source": {"kind": "text", "vocabulary": "joint"}, "target": {"kind": "text"}}
    assert vocabularies_of(fields) == {"source": "joint", "target": "target"}


def test_a_vocabulary_cannot_leave_its_folder():
    with pytest.raises(ValueError, match="must do as a file name"):
        vocabularies_of({"source": {"vocabulary": "../x"}})
