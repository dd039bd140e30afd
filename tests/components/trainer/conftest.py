"""Pairs of ids as Transform writes them, and the fields that they are of."""

from dataclasses import dataclass

import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.trainer.batches import Pairs
from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output

SPEC = {name: tf.io.RaggedFeature(tf.int64) for name in ("source", "target")}


class Letters(Graph):
    """A text of the letters from `a`, which is id 4; padding, begin and end leave no trace."""

    size = 12

    def __init__(self, name):
        FieldGraph.__init__(self, name, {}, b"")

    def values(self, tensor):
        letters = tf.constant(["", "", "", "", *"abcdefgh"])
        return tf.strings.reduce_join(tf.gather(letters, tensor), axis=-1)


@dataclass(frozen=True)
class PairFiles:
    """Patterns of a train and an eval file, and what is in them."""

    train: str
    held_out: str

    def output(self):
        return Output(Letters("target"), {"beam": 1})

    def inputs(self):
        return {"source": Letters("source")}

    def pairs(self):
        """Of both splits."""
        output = self.output()
        return [
            Pairs([files], SPEC, self.inputs(), output.graph, output.column)
            for files in (self.train, self.held_out)
        ]


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
def pair_files(tmp_path):
    """A train and an eval file of reversals."""
    write_pairs(tmp_path / "train-00000.gz", reversals(400))
    write_pairs(tmp_path / "eval-00000.gz", reversals(40, seed=1))
    return PairFiles(str(tmp_path / "train-*"), str(tmp_path / "eval-*"))


@pytest.fixture
def few_pairs(tmp_path):
    """`few_pairs(pairs)`: the pairs of a file of these."""

    def make(pairs):
        write_pairs(tmp_path / "few-0.gz", pairs)
        return PairFiles(str(tmp_path / "few-*"), str(tmp_path / "none-*")).pairs()[0]

    return make


@pytest.fixture
def stop_after():
    """`stop_after(loop, steps)`: trains until Ctrl-C comes behind so many steps."""

    def stop(loop, steps):
        train_step = loop._train_step

        def interrupted(inputs, target):
            # As a signal does: Python notices it when the step, which is C++, returns.
            result = train_step(inputs, target)
            if int(loop.position["step"]) == steps:
                raise KeyboardInterrupt
            return result

        loop._train_step = interrupted
        with pytest.raises(KeyboardInterrupt):
            loop.run()

    return stop
