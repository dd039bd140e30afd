import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.kinds.numbers.graph import Graph
from pairloom.kinds.numbers.output import Output
from pairloom.kinds.output import PLAIN
from pairloom.models import EncoderDecoder

MEAN, DEVIATION = np.array([1.0, -2.0]), np.array([0.5, 4.0])
READ = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
TARGET = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")


@pytest.fixture(scope="module")
def output():
    learned = {"mean": MEAN.tolist(), "deviation": DEVIATION.tolist()}
    return Output(Graph("y", {"standardize": True}, json.dumps(learned).encode()), {})


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(3)
    made = EncoderDecoder(
        {"x": {"type": "features", "units": 5}}, {"type": "vector", "width": 2, "hidden": [4]}
    )
    made.build({"x": (None, 4)}, (None, 2))
    return made


def test_the_loss_is_the_mean_square_of_each_row(output, model):
    made = np.array(model({"x": READ}))
    loss, count = output.loss(model, model.encode({"x": READ}), TARGET, PLAIN)
    expected = sum(np.mean((a - b) ** 2) for a, b in zip(made, TARGET))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert float(count) == float(output.count(TARGET)) == 3


def test_an_answer_is_what_was_written_in_the_numbers_of_the_data(output, model):
    answer = output.answer(model, model.encode({"x": READ}))
    expected = np.array(model({"x": READ})) * DEVIATION + MEAN
    np.testing.assert_allclose(answer["y"], expected, rtol=1e-5)
    told, weights = output.explain(model, model.encode({"x": READ}))
    np.testing.assert_allclose(told["y"], expected, rtol=1e-5)
    assert weights is None


def test_there_is_nothing_to_rank_to_draw_or_to_score(output):
    assert output.offers == () and output.unit == "examples"
    assert output.axes() == {"y": ("number",)}


def test_no_rows_are_no_loss(output, model):
    encoded = model.encode({"x": READ[:0]})
    loss, count = output.loss(model, encoded, tf.zeros([0, 2]), PLAIN)
    assert float(loss) == float(count) == 0
