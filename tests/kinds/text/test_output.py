"""What a text's loss is, by NumPy. Its answers are tested with the SavedModel that gives them."""

import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.output import PLAIN, Objective
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import BOS, EOS
from pairloom.models import EncoderDecoder
from pairloom.models.losses import doubly_stochastic

SOURCE = np.array([[4, 5, 6, 7], [8, 9, 0, 0], [5, 0, 0, 0]], "int32")
TARGET = np.array([[BOS, 261, 262, 263, EOS], [BOS, 270, EOS, 0, 0], [BOS, EOS, 0, 0, 0]], "int32")


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


def losses_by_hand(model, smoothing):
    logits, _ = model({"source": SOURCE}, TARGET[:, :-1])
    logs = np.array(tf.nn.log_softmax(logits), "float64")
    total = 0.0
    for row, time in zip(*np.nonzero(TARGET[:, 1:])):
        at_label = logs[row, time, TARGET[row, time + 1]]
        total -= (1 - smoothing) * at_label + smoothing * logs[row, time].mean()
    return total


@pytest.mark.parametrize("fixed_shapes", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_cross_entropy_of_real_tokens(graph, model, smoothing, fixed_shapes):
    output = Output(graph, {})
    objective = Objective(label_smoothing=smoothing, fixed_shapes=fixed_shapes)
    loss, count = output.loss(model, model.encode({"source": SOURCE}), TARGET, objective)
    np.testing.assert_allclose(loss, losses_by_hand(model, smoothing), rtol=1e-4)
    assert float(count) == float(output.count(TARGET)) == 7


def test_coverage_adds_what_was_not_looked_at_and_only_in_training(graph, model):
    output, encoded = Output(graph, {}), model.encode({"source": SOURCE})
    plain, _ = output.loss(model, encoded, TARGET, PLAIN)
    covered, _ = output.loss(model, encoded, TARGET, Objective(coverage=2.0))
    assert float(covered) == float(plain)
    trained, _ = output.loss(model, encoded, TARGET, Objective(coverage=2.0, training=True))
    _, weights = model({"source": SOURCE}, TARGET[:, :-1])
    missed = float(tf.reduce_sum(doubly_stochastic(weights, TARGET[:, 1:] != 0, SOURCE != 0)))
    assert missed > 0
    np.testing.assert_allclose(float(trained), float(plain) + 2.0 * missed, rtol=1e-4)


def test_what_is_judged_is_the_likelihood_of_given_texts(graph, model):
    output, encoded = Output(graph, {}), model.encode({"source": SOURCE})
    texts = tf.constant(["a dog", "", "it rains"])
    judged = output.judged(model, encoded, texts)
    for row, ids in enumerate(graph.subwords.ids(texts).to_list()):
        fed, labels = np.array([[BOS, *ids]]), [*ids, EOS]
        logits, _ = model({"source": SOURCE[row : row + 1]}, fed)
        logs = tf.nn.log_softmax(logits)[0].numpy()
        expected = sum(logs[time, label] for time, label in enumerate(labels))
        right = sum(logs[time].argmax() == label for time, label in enumerate(labels))
        np.testing.assert_allclose(judged["log_probability"][row], expected, rtol=1e-4)
        assert judged["tokens"][row] == len(labels)
        assert judged["correct"][row] == right


@pytest.mark.parametrize(("samples", "offers"), [(0, False), (3, True)])
def test_samples_are_offered_where_the_recipe_asks_for_some(graph, samples, offers):
    assert ("sample" in Output(graph, {"samples": samples}).offers) == offers
    assert {"nbest", "score"} <= set(Output(graph, {}).offers)


def test_samples_are_drawn_by_their_seed(graph, model):
    output = Output(graph, {"samples": 3, "max_length": 4})
    encoded = model.encode({"source": SOURCE})
    first, same, other = (
        output.samples(model, encoded, tf.constant(seed, tf.int64))["target"].numpy().tolist()
        for seed in ([1, 2, 3], [1, 2, 3], [4, 5, 6])
    )
    assert first == same != other
    assert np.shape(first) == (3, 3)


def test_an_answer_goes_on_from_its_beginning(graph, model):
    output, encoded = Output(graph, {"beam": 2, "max_length": 8}), model.encode({"source": SOURCE})
    answer = output.answer(model, encoded, prefix=tf.constant(["a dog", "", "it"]))["target"]
    assert answer[0].numpy().startswith(b"a dog") and answer[2].numpy().startswith(b"it")


def test_the_best_few_are_as_many_as_the_recipe_says(graph, model):
    encoded = model.encode({"source": SOURCE})
    for settings, many in (({"beam": 4}, 4), ({"beam": 4, "nbest": 2}, 2), ({"beam": 1}, 1)):
        output = Output(graph, {"max_length": 5, **settings})
        several, best = output.nbest(model, encoded), output.answer(model, encoded)
        assert several["target"].shape == several["score"].shape == (3, many)
        assert several["target"][:, 0].numpy().tolist() == best["target"].numpy().tolist()


@pytest.mark.parametrize("settings", [{"beam": 1}, {"beam": 3}, {"samples": 2}])
@pytest.mark.parametrize(("likeliness", "cut"), [(50.0, False), (-50.0, True)])
def test_an_answer_tells_whether_the_limit_of_length_ended_it(
    graph, model, settings, likeliness, cut
):
    output, encoded = Output(graph, {"max_length": 4, **settings}), model.encode({"source": SOURCE})
    bias = model.decoder.output_layer.bias
    before = np.array(bias)
    try:
        bias.assign(before + likeliness * np.eye(len(before))[EOS])
        if "samples" in settings:
            seed = tf.constant([1, 2, 3], tf.int64)
            found = output.samples(model, encoded, seed)["cut"]
            assert found.shape == (3, 2)
        else:
            found = output.answer(model, encoded)["cut"]
            assert output.nbest(model, encoded)["cut"][:, 0].numpy().tolist() == [cut] * 3
            explained, _ = output.explain(model, encoded)
            assert explained["cut"].numpy().tolist() == [cut] * 3
        assert (found.numpy() == cut).all()
    finally:
        bias.assign(before)
