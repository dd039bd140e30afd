import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.label.graph import UNKNOWN, Graph
from pairloom.kinds.label.output import Output
from pairloom.kinds.output import PLAIN, Objective
from pairloom.models import EncoderDecoder

LABELS = ["good", "bad", "fair"]
TARGET = np.array([0, 2, UNKNOWN, 1], "int32")
GIVEN = tf.constant(["good", "fair", "other", "bad"])
IDS = np.array([[4, 5, 6], [7, 0, 0], [8, 9, 0], [5, 5, 0]], "int32")


@pytest.fixture(scope="module")
def output():
    return Output(Graph("mood", {}, b'["good", "bad", "fair"]'), {})


@pytest.fixture(scope="module", params=["summary", "pooling"])
def model(request):
    keras.utils.set_random_seed(3)
    made = EncoderDecoder(
        {"text": {"type": "tokens", "vocabulary_size": 10, "units": 6, "embedding_units": 5}},
        {"type": "classes", "classes": 3, "context": request.param, "units": 4},
    )
    made.build({"text": (None, None)}, (None,))
    return made


@pytest.fixture
def encoded(model):
    return model.encode({"text": IDS})


def log_chances(model):
    logits = np.array(model({"text": IDS})[0], "float64")
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_cross_entropy_of_known_labels(output, model, encoded, smoothing):
    logs = log_chances(model)
    expected = 0.0
    for row, label in enumerate(TARGET):
        if label != UNKNOWN:
            spread = np.full(3, smoothing / 3)
            spread[label] += 1 - smoothing
            expected -= spread @ logs[row]
    loss, count = output.loss(model, encoded, TARGET, Objective(label_smoothing=smoothing))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert float(count) == float(output.count(TARGET)) == 3


def test_an_unknown_label_counts_nothing(output, model, encoded):
    loss, count = output.loss(model, encoded, np.full(4, UNKNOWN, "int32"), PLAIN)
    assert float(loss) == float(count) == 0


def test_an_answer_is_the_likeliest_label_with_the_chances_of_all(output, model, encoded):
    answer = output.answer(model, encoded)
    logs = log_chances(model)
    names = [LABELS[i].encode() for i in logs.argmax(-1)]
    assert answer["mood"].numpy().tolist() == names
    np.testing.assert_allclose(answer["score"], logs.max(-1), atol=1e-5)
    np.testing.assert_allclose(answer["probabilities"], np.exp(logs), atol=1e-5)
    assert [name.decode() for name in answer["labels"].numpy()[3]] == LABELS


def test_the_best_few_are_ranked_and_no_more_than_there_are(output, model, encoded):
    several, logs = output.nbest(model, encoded), log_chances(model)
    ranked = np.argsort(-logs, -1)
    assert several["mood"].numpy().tolist() == [[LABELS[i].encode() for i in r] for r in ranked]
    np.testing.assert_allclose(several["score"], -np.sort(-logs, -1), atol=1e-5)


def test_a_given_label_is_scored_and_an_unknown_one_impossible(output, model, encoded):
    scored, weights = output.score(model, encoded, GIVEN)
    logs = log_chances(model)
    expected = [logs[0, 0], logs[1, 2], -np.inf, logs[3, 1]]
    np.testing.assert_allclose(scored["log_probability"], expected, atol=1e-5)
    np.testing.assert_allclose(scored["token_scores"][:, 0], expected, atol=1e-5)
    assert scored["target_tokens"].numpy()[:, 0].tolist() == GIVEN.numpy().tolist()
    assert weights.shape == (4, 1, 3)


def test_what_is_judged_is_whether_the_answer_is_right(output, model, encoded):
    judged = output.judged(model, encoded, GIVEN)
    right = log_chances(model).argmax(-1) == TARGET
    np.testing.assert_array_equal(judged["correct"], right)
    # One that the train split lacks counts nothing: it would make every sum infinite.
    np.testing.assert_array_equal(judged["tokens"], [1, 1, 0, 1])
    assert (judged["log_probability"].numpy() < 0).tolist() == [True, True, False, True]


def test_an_explanation_has_the_weights_that_the_decoder_gave(output, model, encoded):
    told, weights = output.explain(model, encoded)
    np.testing.assert_allclose(weights, model({"text": IDS})[1], atol=1e-6)
    assert told["target_tokens"].numpy()[:, 0].tolist() == told["mood"].numpy().tolist()
    for name in output.axes():
        if name in told:
            assert told[name].shape.rank == 1 + len(output.axes()[name])


def test_the_description_lists_the_labels(output):
    assert output.graph.description()["labels"] == LABELS
