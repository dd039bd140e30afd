"""Attention that is told where to look learns to look there; without being told it does not."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.metrics import corpus_score
from pairloom.components.trainer.batches import Pairs, in_batches
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.run import sample_pairs
from pairloom.components.trainer.settings import Supervised, TrainingSettings
from pairloom.kinds.alignment.graph import Graph as LinksGraph
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.learning import learn
from pairloom.kinds.text.output import Output
from pairloom.models import EncoderDecoder
from pairloom.serving.export import ServedModel

NAMES = ("source", "target", "links")
WORDS = ["one", "two", "three", "four", "five", "six"]
LEARNED = learn(dict.fromkeys(WORDS, 1), {"method": "characters", "size": 290})[0]


def rows(count, seed):
    """Texts that are copied, linked against the sense of it: each word with the last one."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = random.choice(WORDS, 3).tolist()
        found.append((" ".join(words), " ".join(words), "2-0 1-1 0-2"))
    return found


def write(path, graphs, texts):
    """Writes rows as Transform does."""
    columns = [graph.transform(tf.constant(list(values)))[""].to_list()
               for graph, values in zip(graphs, zip(*texts))]  # fmt: skip
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions("GZIP")) as writer:
        for row in zip(*columns):
            features = {
                name: tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
                for name, ids in zip(NAMES, row)
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


class Case:
    """Files of both splits, and what is made of them."""

    def __init__(self, folder):
        keras.utils.set_random_seed(1)
        self.source, self.target = Graph("source", {}, LEARNED), Graph("target", {}, LEARNED)
        self.links = LinksGraph("links", {}, b"")
        self.folder, self.output = folder, Output(self.target, {"beam": 1})
        for name, count in (("train", 200), ("eval", 20)):
            graphs = (self.source, self.target, self.links)
            write(folder / f"{name}.gz", graphs, rows(count, len(name)))

    def pairs(self, told):
        spec = {name: tf.io.RaggedFeature(tf.int64) for name in NAMES}
        extras = {"links": self.links} if told else {}
        return [
            Pairs([str(self.folder / name)], spec, {"source": self.source}, self.target,
                  self.output.column, extras)
            for name in ("train.gz", "eval.gz")
        ]  # fmt: skip

    def model(self):
        sizes = {"vocabulary_size": self.source.size, "units": 24, "embedding_units": 12}
        made = EncoderDecoder(
            {"source": {"type": "tokens", **sizes}}, {"type": "recurrent", **sizes}
        )
        made.build({"source": (None, None)}, (None, None))
        random = np.random.default_rng(0)
        made.set_weights([random.normal(0, 0.2, w.shape) for w in made.get_weights()])
        return made

    def trained(self, told, epochs=12, **settings):
        model = self.model()
        chosen = TrainingSettings(
            epochs=epochs, batch_tokens=400, learning_rate=0.01, warmup_steps=5, average=0,
            supervised=Supervised("links", 1.0) if told else None, **settings,
        )  # fmt: skip
        folder = str(self.folder / f"told-{told}-{settings}")
        loop = TrainingLoop(model, self.output, chosen, *self.pairs(told), folder)
        loop.run()
        return model, loop

    def error_rate(self, model):
        texts = rows(20, 9)
        served = ServedModel(
            model,
            {"source": self.source},
            self.output,
            {"source": "text", "target": "text"},
            answers=False,
            alignment=self.links,
        )
        found = served.evaluate(tf.constant([_example(row) for row in texts]))
        assert found["links_found"].shape == found["links_given"].shape == (20, 1)
        assert found["links_given"].numpy()[:, 0].tolist() == [row[2].encode() for row in texts]
        return corpus_score(
            "alignment_error_rate",
            [one.decode() for one in found["links_found"].numpy()[:, 0]],
            [row[2] for row in texts],
        )


def _example(row):
    features = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
        for name, text in zip(NAMES, row)
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_attention_follows_the_links_that_it_is_told_and_no_others(case):
    told = case.error_rate(case.trained(True)[0])
    left_alone = case.error_rate(case.trained(False)[0])
    assert told < 10 < 40 < left_alone


def test_batches_carry_the_links_of_their_rows(case):
    [(inputs, target)] = in_batches(case.pairs(True)[1], 10_000)
    assert set(inputs) == {"source", "links"}
    assert inputs["links"].shape == (20, 3, 3) and target.shape[0] == 20
    assert (inputs["links"].numpy() == np.eye(3)[::-1]).all()
    assert set(in_batches(case.pairs(False)[1], 10_000).element_spec[0]) == {"source"}


def test_links_are_no_sample_for_a_server(case):
    assert all(set(sample) == {"source", "target"} for sample in sample_pairs(case.pairs(True)[1]))


def test_a_weight_of_nothing_trains_as_without(case):
    losses = []
    for told in (Supervised("links", 0.0), None):
        settings = TrainingSettings(epochs=1, batch_tokens=400, supervised=told)
        folder = str(case.folder / f"weight-{told}")
        loop = TrainingLoop(case.model(), case.output, settings, *case.pairs(False), folder)
        loop.run()
        losses.append(loop.losses)
    assert losses[0] == losses[1]
