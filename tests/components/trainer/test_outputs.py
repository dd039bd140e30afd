"""Trainings from raw values to answers, for every kind of output and any number of inputs."""

import dataclasses
from collections import Counter

import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.trainer.batches import Pairs, read_inputs
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.run import build_model, sample_pairs
from pairloom.components.trainer.settings import EarlyStopping, TrainingSettings
from pairloom.components.trainer.watching import Watch
from pairloom.kinds import find_kind
from pairloom.serving.export import ServedModel

SETTINGS = TrainingSettings(
    epochs=12,
    batch_tokens=64,
    learning_rate=0.02,
    warmup_steps=5,
    label_smoothing=0.0,
    average=0.9,
    early_stopping=EarlyStopping(patience=0),
)
WORDS = ["good", "bad", "dog", "cat", "runs", "it"]
TOKENS = {"type": "tokens", "units": 16, "embedding_units": 8}


def learned(kind, values):
    """What a field of this kind learns of values, with few ids for texts."""
    table = Counter()
    learning = find_kind(kind).part("learning")
    learning.count(values, table)
    settings = {"method": "words", "size": 300} if kind in ("text", "texts") else {}
    return learning.learn(table, settings)[0]


class Road:
    """From values to pairs: what the nodes before the trainer make of them.

    Args:
        folder: Where to write.
        fields: Field to `(kind, stored values)`.
        inputs: The fields that are read.
        output: The one that is written.
        options: The recipe's options of every field.
    """

    def __init__(self, folder, fields, inputs, output, search=None, **options):
        # First of all, as the trainer does: it clears what TensorFlow keeps of a tokenizer.
        keras.utils.set_random_seed(1)
        self.kinds = {name: kind for name, (kind, _) in fields.items()}
        graphs = {
            name: find_kind(kind)
            .part("graph")
            .Graph(name, {"kind": kind, **options}, learned(kind, values))
            for name, (kind, values) in fields.items()
        }
        self.inputs = {name: graphs[name] for name in inputs}
        self.output = (
            find_kind(self.kinds[output]).part("output").Output(graphs[output], search or {})
        )
        spec = self._write(folder / "data-0.gz", graphs, fields)
        files = [str(folder / "data-*")]
        self.pairs = Pairs(files, spec, self.inputs, self.output.graph, self.output.column)

    def _write(self, path, graphs, fields):
        made = {
            name + suffix: value
            for name, graph in graphs.items()
            for suffix, value in graph.transform(tf.constant(fields[name][1])).items()
        }
        rows = len(next(iter(fields.values()))[1])
        with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions("GZIP")) as writer:
            for row in range(rows):
                example = tf.train.Example()
                for name, value in made.items():
                    feature = example.features.feature[name]
                    numbers = np.ravel(value[row].numpy())
                    kept = feature.float_list if value.dtype.is_floating else feature.int64_list
                    kept.value.extend(numbers.tolist())
                writer.write(example.SerializeToString())
        return {name: _feature(value) for name, value in made.items()}

    def train(self, model, folder, metric="loss", **settings):
        loop = self.loop(model, folder, metric, **settings)
        return loop, loop.run()

    def loop(self, model, folder, metric="loss", **settings):
        built = build_model(model, self.inputs, self.output.graph)
        stopping = EarlyStopping(metric=metric, patience=0)
        watch = None if metric == "loss" else Watch(metric, built, self.output, self.pairs)
        return TrainingLoop(
            built,
            self.output,
            dataclasses.replace(SETTINGS, early_stopping=stopping, **settings),
            self.pairs,
            self.pairs,
            str(folder),
            watch=watch,
        )

    def served(self, model):
        return ServedModel(model, self.inputs, self.output, self.kinds)

    def signatures(self, model):
        return self.served(model).signatures()


def _feature(value):
    if isinstance(value, tf.RaggedTensor):
        return tf.io.RaggedFeature(value.dtype)
    return tf.io.FixedLenFeature(value.shape[1:], value.dtype)


def moods(count=120):
    """Texts that are `good` or `bad` by a word in them."""
    random = np.random.default_rng(0)
    for _ in range(count):
        mood = random.choice(["good", "bad"])
        words = [*random.choice(WORDS[2:], random.integers(0, 4)).tolist(), mood]
        random.shuffle(words)
        yield " ".join(words).encode(), mood.encode()


@pytest.fixture
def moody():
    texts, labels = zip(*moods())
    return {"text": ("text", texts), "mood": ("label", labels)}


@pytest.mark.parametrize("context", ["summary", "pooling"])
def test_labels_are_learned_and_answered(moody, tmp_path, context):
    road = Road(tmp_path, moody, ["text"], "mood")
    decoder = {"type": "classes", "context": context, "units": 8}
    model = {"encoders": {"text": TOKENS}, "decoder": decoder}
    loop, result = road.train(model, tmp_path / "checkpoints", "accuracy")
    # The watched value falls as the accuracy, in per cent, rises.
    assert result.best < -95
    assert loop._evaluation["eval_accuracy"] > 95
    assert loop.output.unit == "examples"
    signatures = road.signatures(loop.model)
    assert {"nbest", "score"} <= set(signatures) and "sample" not in signatures
    answer = signatures["serving_default"](text=tf.constant(["dog good", "bad cat"]))
    assert answer["mood"].numpy().tolist() == [b"good", b"bad"]


def test_labels_can_be_watched_by_their_likelihood(moody, tmp_path):
    road = Road(tmp_path, moody, ["text"], "mood")
    model = {"encoders": {"text": TOKENS}, "decoder": {"type": "classes"}}
    _, result = road.train(model, tmp_path / "checkpoints", "perplexity", epochs=6)
    assert 1.0 <= result.best < 1.5


@pytest.mark.parametrize("standardize", [True, False])
def test_numbers_are_learned_and_answered(tmp_path, standardize):
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (200, 3)).astype("float32")
    y = x @ np.array([[2.0, 0.0], [0.0, -1.0], [1.0, 0.0]], "float32") + np.float32([10, 0])
    fields = {"x": ("numbers", x), "y": ("numbers", y)}
    road = Road(tmp_path, fields, ["x"], "y", standardize=standardize)
    model = {"encoders": {"x": {"type": "features", "units": 8}}, "decoder": {"type": "vector"}}
    more = {"epochs": 60, "learning_rate": 0.05}
    loop, result = road.train(model, tmp_path / "checkpoints", "mse", **more)
    assert result.best < 0.05
    signatures = road.signatures(loop.model)
    assert not {"nbest", "score", "sample"} & set(signatures)
    asked = np.array([[1, 2, 3], [0, 0, 0]], "float32")
    answer = signatures["serving_default"](x=tf.constant(asked))["y"]
    np.testing.assert_allclose(answer, [[15, -2], [10, 0]], atol=0.8)


def test_a_field_may_be_both_sides(tmp_path):
    codes = np.eye(4, dtype="float32")[np.random.default_rng(0).integers(0, 4, 100)]
    road = Road(tmp_path, {"x": ("numbers", codes)}, ["x"], "x")
    model = {"encoders": {"x": {"type": "features", "units": 6}}, "decoder": {"type": "vector"}}
    loop, result = road.train(model, tmp_path / "checkpoints", epochs=30)
    assert result.best < 0.02
    assert [list(sample) for sample in sample_pairs(road.pairs)] == [["x"]] * 3
    assert road.served(loop.model).description.inputs[0].shape == (4,)
    assert road.served(loop.model).description.output.shape == (4,)
    answer = road.signatures(loop.model)["serving_default"](x=tf.constant(codes[:5]))["x"]
    np.testing.assert_allclose(answer, codes[:5], atol=0.5)


def test_a_resumed_training_sees_the_noise_of_one_that_was_never_stopped(tmp_path, stop_after):
    x = np.random.default_rng(0).normal(0, 1, (200, 3)).astype("float32")
    model = {"encoders": {"x": {"type": "features", "units": 6}}, "decoder": {"type": "vector"}}
    more = {"epochs": 4, "batch_tokens": 16}

    def loop(place):
        road = Road(tmp_path, {"x": ("numbers", x)}, ["x"], "x", noise=0.5, masking=0.2)
        return road.loop(model, tmp_path / place, **more)

    whole = loop("whole")
    whole.run()
    stop_after(loop("stopped"), 20)
    resumed = loop("stopped")
    resumed.run()
    assert resumed.losses == whole.losses[20:]
    for ours, theirs in zip(resumed.model.get_weights(), whole.model.get_weights()):
        np.testing.assert_array_equal(ours, theirs)


def test_two_fields_of_one_batch_have_noise_of_their_own_and_every_step_another(tmp_path):
    x = np.zeros((40, 3), "float32")
    x[0] = 1.0
    fields = {"a": ("numbers", x), "b": ("numbers", x), "y": ("numbers", x)}
    road = Road(tmp_path, fields, ["a", "b"], "y", noise=1.0)
    features = {"type": "features", "units": 4}
    model = {
        "encoders": {"a": features, "b": features},
        "decoder": {"type": "vector"},
        "join": {"type": "concat"},
    }
    loop = road.loop(model, tmp_path / "checkpoints", epochs=1, batch_tokens=64)
    given = {"a": tf.constant(x), "b": tf.constant(x)}
    seen = []
    for _ in range(2):
        read = read_inputs(loop._train_pairs.inputs, given, loop._noise_seed())
        seen += [read["a"].numpy(), read["b"].numpy()]
        loop.position.advance()
    for number, one in enumerate(seen):
        for other in seen[:number]:
            assert np.abs(one - other).max() > 0.1


def test_documents_are_classified_by_their_sentences(tmp_path):
    documents, labels = [], []
    for text, mood in moods(80):
        documents.append(b"it runs\n" + text + b"\ndog cat\n")
        labels.append(mood)
    road = Road(tmp_path, {"d": ("texts", documents), "mood": ("label", labels)}, ["d"], "mood")
    model = {
        "encoders": {"d": {"type": "hierarchical", "units": 12, "embedding_units": 8}},
        "decoder": {"type": "classes", "context": "pooling", "units": 8},
    }
    loop, result = road.train(model, tmp_path / "checkpoints", "accuracy", epochs=8)
    assert result.best < -90
    explained = road.signatures(loop.model)["explain"](d=tf.constant(documents[:2]))
    assert explained["attention"].shape == (2, 1, 3)
    assert explained["attention_words"].shape == explained["source_tokens"].shape
    np.testing.assert_allclose(tf.reduce_sum(explained["attention_words"], -1), 1.0, atol=1e-5)


@pytest.mark.parametrize("join", [{"type": "concat"}, {"type": "query", "asks": "question"}])
def test_two_inputs_are_both_needed_and_both_read(tmp_path, join):
    random = np.random.default_rng(0)
    first, second = (random.integers(0, 2, 160) for _ in range(2))
    fields = {
        "question": ("text", [WORDS[i].encode() for i in first]),
        "seen": ("text", [WORDS[2 + i].encode() for i in second]),
        "same": ("label", [b"yes" if a == b else b"no" for a, b in zip(first, second)]),
    }
    road = Road(tmp_path, fields, ["question", "seen"], "same")
    context = "attention" if join["type"] == "query" else "summary"
    model = {
        "encoders": {"question": TOKENS, "seen": TOKENS},
        "decoder": {"type": "classes", "context": context, "units": 16},
        "join": join,
    }
    # What is exclusive-or of both is linear in neither, so the head alone cannot tell it.
    loop, _ = road.train(model, tmp_path / "checkpoints", epochs=2)
    explain = road.signatures(loop.model)["explain"]
    asked = {"question": tf.constant(["good"]), "seen": tf.constant(["dog dog cat"])}
    told = explain(**asked)
    looked = {name for name in told if name.startswith("attention")}
    assert looked == ({"attention_seen"} if join["type"] == "query" else set())
    changed = explain(**{**asked, "question": tf.constant(["bad"])})
    assert np.abs(told["probabilities"] - changed["probabilities"]).max() > 0
    changed = explain(**{**asked, "seen": tf.constant(["cat"])})
    assert np.abs(told["probabilities"] - changed["probabilities"]).max() > 0


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "recurrent", "units": 16, "embedding_units": 8, "context": "state"},
        {"type": "transformer", "units": 16, "layers": 1, "heads": 2, "feed_forward": 16},
    ],
    ids=["recurrent", "transformer"],
)
def test_a_model_without_inputs_goes_on_from_a_beginning(tmp_path, decoder):
    texts = [b"it runs", b"good dog", b"bad cat runs"] * 30
    search = {"beam": 2, "max_length": 6, "samples": 2}
    road = Road(tmp_path, {"text": ("text", texts)}, [], "text", search)
    loop, _ = road.train({"encoders": {}, "decoder": decoder}, tmp_path / "c", "perplexity")
    signatures = road.signatures(loop.model)
    answer = signatures["serving_default"](beginning=tf.constant(["it", "good", "bad cat"]))
    assert answer["text"].numpy().tolist() == [b"it runs", b"good dog", b"bad cat runs"]
    scored = signatures["score"](text=tf.constant(["it runs", "runs it"]))["log_probability"]
    assert scored[0] > scored[1]
    drawn = signatures["sample"](beginning=tf.constant(["it"]), seed=tf.constant([3], tf.int64))
    assert drawn["text"].shape == (1, 2)
    assert road.served(loop.model).description.inputs == ()
    told = signatures["explain"](beginning=tf.constant(["it", ""]))
    assert told["text"][0] == b"it runs" and "attention" not in told
