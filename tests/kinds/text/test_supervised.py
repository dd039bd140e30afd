"""What a text's loss adds where attention is told where to look, by NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.alignment.tokens import links_of_tokens
from pairloom.kinds.output import PLAIN, Objective
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import BOS, EOS
from pairloom.models import EncoderDecoder

SOURCES = tf.constant(["a small dog", "it rains"])
TARGETS = ["runs it", "sleeps"]
LINKS = np.array([[[0, 1], [0, 1], [1, 0]], [[1, 0], [0.5, 0], [0, 0]]], "float32")


@pytest.fixture(scope="module")
def graph(subword_model):
    return Graph("target", {}, subword_model)


@pytest.fixture(scope="module")
def model(graph):
    sizes = {"vocabulary_size": graph.size, "units": 6, "embedding_units": 5}
    made = EncoderDecoder({"source": {"type": "tokens", **sizes}}, {"type": "recurrent", **sizes})
    made.build({"source": (None, None)}, (None, None))
    # Keras's own seed would clear what TensorFlow keeps of the tokenizer.
    random = np.random.default_rng(0)
    made.set_weights([random.normal(0, 0.5, w.shape) for w in made.get_weights()])
    return made


@pytest.fixture(scope="module")
def target(graph):
    rows = [[BOS, *ids, EOS] for ids in graph.subwords.ids(TARGETS).to_list()]
    return tf.ragged.constant(rows, tf.int32).to_tensor()


def test_supervision_adds_the_cross_entropy_of_linked_tokens_and_only_in_training(
    graph, model, target
):
    output, ids = Output(graph, {}), graph.tensor(SOURCES)
    encoded, words = model.encode({"source": ids}), graph.word_numbers(ids)
    told = {"supervision": 2.0, "links": LINKS, "source_words": words}
    plain, count = output.loss(model, encoded, target, PLAIN)
    assert float(output.loss(model, encoded, target, Objective(**told))[0]) == float(plain)
    trained, same = output.loss(model, encoded, target, Objective(training=True, **told))
    assert float(count) == float(same)
    _, weights = model({"source": ids}, target[:, :-1])
    wanted = links_of_tokens(LINKS, words, graph.word_numbers(target[:, 1:])).numpy()
    added = 0.0
    for row, time in np.ndindex(*wanted.shape[:2]):
        linked = np.flatnonzero(wanted[row, time])
        if len(linked):
            added -= np.mean(np.log(np.array(weights)[row, time, linked]))
    assert added > 0
    np.testing.assert_allclose(float(trained), float(plain) + 2.0 * added, rtol=1e-4)


def test_no_gradient_flows_to_tokens_without_a_link(graph, model, target):
    output, ids = Output(graph, {}), graph.tensor(SOURCES)
    told = {"links": 0 * LINKS, "source_words": graph.word_numbers(ids), "training": True}
    encoded = model.encode({"source": ids})
    with_it, _ = output.loss(model, encoded, target, Objective(supervision=1.0, **told))
    without, _ = output.loss(model, encoded, target, Objective(training=True))
    assert float(with_it) == float(without)


def test_the_links_found_are_those_of_teacher_forcing(graph, model):
    output, ids = Output(graph, {}), graph.tensor(SOURCES)
    words, encoded = graph.word_numbers(ids), model.encode({"source": ids})
    found = output.aligned(model, encoded, tf.constant(TARGETS), words).numpy()
    for row, text in enumerate(TARGETS):
        assert [link.split(b"-")[1] for link in found[row].split()] == [
            str(number).encode() for number in range(len(text.split()))
        ]
    _, weights = output.score(model, encoded, tf.constant(TARGETS))
    # The second text is one word: of its tokens' mean weights the largest counts.
    [sleeps] = graph.subwords.ids(TARGETS[1:]).to_list()
    mean = np.array(weights)[1, : len(sleeps)].mean(0)
    sums = [mean[np.array(words)[1] == number].sum() for number in range(2)]
    assert found[1] == f"{np.argmax(sums)}-0".encode()
