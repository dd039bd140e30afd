import numpy as np
import pytest
import tensorflow as tf


def write_pairs(path, pairs):
    """Writes `(source ids, target ids)` pairs as Transform does."""
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions("GZIP")) as writer:
        for source, target in pairs:
            features = {
                name: tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
                for name, ids in (("source", source), ("target", target))
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


@pytest.fixture(name="write_pairs")
def write_pairs_fixture():
    """`write_pairs`, for tests."""
    return write_pairs


def reversals(count, seed=0):
    """Pairs whose target is the source backwards: learnable, and only by looking at it."""
    random = np.random.default_rng(seed)
    sources = [random.integers(4, 12, random.integers(1, 7)).tolist() for _ in range(count)]
    return [(source, source[::-1]) for source in sources]


@pytest.fixture
def spec():
    """How `write_pairs` stores the fields."""
    return {name: tf.io.RaggedFeature(tf.int64) for name in ("source", "target")}


@pytest.fixture
def pair_files(tmp_path):
    """Patterns of a train and an eval file of reversals."""
    write_pairs(tmp_path / "train-00000.gz", reversals(400))
    write_pairs(tmp_path / "eval-00000.gz", reversals(40, seed=1))
    return [str(tmp_path / "train-*")], [str(tmp_path / "eval-*")]
