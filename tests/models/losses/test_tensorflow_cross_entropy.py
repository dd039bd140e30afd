import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.models.losses import projected_cross_entropy
from pairloom.models.product import products_in

pytestmark = pytest.mark.needs_tensorflow
RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(6, 4)).astype("float32")
TABLE = RANDOM.normal(size=(9, 4)).astype("float32")
BIAS = RANDOM.normal(size=(9,)).astype("float32")
LABELS = np.array([0, 8, 3, 3, 1, 8])


def by_definition(features, table, bias, labels, smoothing):
    logits = features @ table.T + bias
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    wanted = np.full_like(logs, smoothing / logs.shape[1])
    wanted[np.arange(len(labels)), labels] += 1 - smoothing
    return -(wanted * logs).sum(-1)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_the_loss_is_its_definition(smoothing):
    loss = projected_cross_entropy(FEATURES, TABLE, BIAS, LABELS, smoothing)
    expected = by_definition(FEATURES, TABLE, BIAS, LABELS, smoothing)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.parametrize(("narrow", "near"), [("", 1e-5), ("bfloat16", 0.1)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_gradient_is_that_of_the_plain_formula(smoothing, narrow, near):
    inputs = [tf.constant(x) for x in (FEATURES, TABLE, BIAS)]
    upstream = tf.constant(RANDOM.normal(size=6).astype("float32"))

    def plain(features, table, bias):
        logs = tf.nn.log_softmax(features @ tf.transpose(table) + bias)
        wanted = tf.one_hot(LABELS, 9) * (1 - smoothing) + smoothing / 9
        return -tf.reduce_sum(wanted * logs, -1)

    def ours(features, table, bias):
        return projected_cross_entropy(features, table, bias, LABELS, smoothing)

    results = []
    for loss in (plain, ours):
        with products_in(narrow), tf.GradientTape() as tape:
            tape.watch(inputs)
            total = tf.reduce_sum(upstream * loss(*inputs))
        results.append(tape.gradient(total, inputs))
    for expected, gradient in zip(*results):
        assert gradient.dtype == tf.float32
        np.testing.assert_allclose(tf.convert_to_tensor(gradient), expected, atol=near)


def test_hopeless_labels_have_a_large_finite_loss():
    loss = projected_cross_entropy(
        np.array([[1000.0]], "float32"),
        np.array([[1.0], [-1.0]], "float32"),
        np.zeros(2, "float32"),
        np.array([1]),
    )
    np.testing.assert_allclose(loss, [2000.0])


def test_no_rows_give_no_losses():
    assert projected_cross_entropy(FEATURES[:0], TABLE, BIAS, LABELS[:0]).shape == (0,)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("made", [keras.Variable, tf.Variable])
def test_variables_are_taken_and_get_gradients(smoothing, made):
    table, bias = made(TABLE), made(BIAS)
    watched = [getattr(x, "value", x) if made is keras.Variable else x for x in (table, bias)]
    with tf.GradientTape() as tape:
        loss = projected_cross_entropy(FEATURES, table, bias, LABELS, smoothing)
    expected = by_definition(FEATURES, TABLE, BIAS, LABELS, smoothing)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    for gradient in tape.gradient(loss, watched):
        assert np.abs(tf.convert_to_tensor(gradient)).max() > 0


def test_features_of_three_axes_are_refused():
    with pytest.raises(ValueError, match=r"must be `\(rows, units\)`.*shape=\(2, 3, 4\)"):
        projected_cross_entropy(FEATURES.reshape(2, 3, 4), TABLE, BIAS, LABELS)
