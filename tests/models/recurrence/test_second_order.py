"""Gradients of gradients, and forward mode, through the loop over time."""

import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import (
    LSTMN,
    AdditiveScore,
    Memory,
    Recurrence,
    RecurrentDecoder,
    SoftAttention,
)
from pairloom.models.cells import make_cell

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(3, 4, 5)).astype("float32")
MASK = np.arange(4)[None] < np.array([4, 2, 0])[:, None]
SUMMARY = RANDOM.normal(size=(3, 6)).astype("float32")


def recurrence(name):
    layer = Recurrence(make_cell(name, 4), make_cell(name, 4))
    return layer, lambda x: ops.sum(ops.sin(layer(x, inputs_mask=MASK)[0]))


def lstmn():
    layer = LSTMN(4)
    return layer, lambda x: ops.sum(ops.sin(layer(x, inputs_mask=MASK)[0]))


def decoder(**settings):
    layer = RecurrentDecoder(10, 6, embedding_units=4, **settings)
    ids = np.array([[2, 4, 5], [2, 6, 7], [2, 8, 9]])

    def value(x):
        return ops.sum(ops.sin(layer(ids, Memory(x, MASK, SUMMARY))[0]))

    return layer, value


LOOPS = {
    "gru": lambda: recurrence("gru"),
    "lstm": lambda: recurrence("lstm"),
    "mut2": lambda: recurrence("mut2"),
    "lstmn": lstmn,
    "decoder": decoder,
    "decoder, two layers": lambda: decoder(layers=2, style="bahdanau", score="general"),
}


@pytest.mark.parametrize(
    ("name", "in_a_graph"), [*((name, True) for name in LOOPS), ("gru", False)]
)
def test_gradients_of_a_gradient_penalty_are_its_slopes(name, in_a_graph, gradients, penalties):
    layer, value = LOOPS[name]()
    value(INPUTS)
    layer.set_weights([RANDOM.normal(0, 0.4, w.shape) for w in layer.get_weights()])
    found = penalties(value, [INPUTS], layer, compiled=in_a_graph)

    def penalty(inputs):
        return sum(np.sum(np.square(one)) for one in gradients(value, [inputs], layer, True))

    starts = [INPUTS, *(w.copy() for w in layer.get_weights())]
    ways = [RANDOM.normal(size=start.shape) / np.sqrt(start.size) for start in starts]
    # Along all at once: the slopes of single ones would cancel less and cost far more.
    ends = []
    for step in (0.005, -0.005):
        inputs, *weights = (start + step * way for start, way in zip(starts, ways))
        layer.set_weights(weights)
        ends.append(penalty(inputs.astype("float32")))
    slope = sum(np.sum(gradient * way) for gradient, way in zip(found, ways))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 0.01, rtol=0.02, atol=0.02)
    assert abs(slope) > 0.1


def test_a_gradient_penalty_is_that_of_keras_s_own_loop(penalties):
    cell = make_cell("gru", 4)
    ours, theirs = Recurrence(cell), keras.layers.RNN(cell, return_sequences=True)
    ours(INPUTS)
    theirs(INPUTS)
    by_ours, by_theirs = (
        penalties(lambda x, layer=layer: ops.sum(ops.sin(made(layer(x)))), [INPUTS], cell)
        for layer in (ours, theirs)
    )
    for one, other in zip(by_ours, by_theirs):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def made(outputs):
    return outputs[0] if isinstance(outputs, tuple) else outputs


@pytest.mark.needs_tensorflow
def test_one_penalty_never_enters_the_next():
    import tensorflow as tf

    layer = Recurrence(make_cell("simple", 4))
    inputs = tf.constant(INPUTS)
    layer(inputs)
    kernel = layer.cell.recurrent_kernel.value

    @tf.function
    def second(both: bool):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(inputs)
            with tf.GradientTape() as inner:
                inner.watch(inputs)
                value = tf.reduce_sum(tf.sin(layer(inputs)[0]))
            by_inputs, by_kernel = inner.gradient(value, [inputs, kernel])
            penalties = [tf.reduce_sum(by_kernel**2), tf.reduce_sum(by_inputs**2)]
        return [outer.gradient(one, inputs) for one in penalties[0 if both else 1 :]]

    np.testing.assert_allclose(second(True)[1], second(False)[0], rtol=1e-5)


@pytest.mark.needs_tensorflow
def test_what_cannot_be_differentiated_says_so():
    import tensorflow as tf

    layer = Recurrence(make_cell("simple", 4))
    inputs = tf.constant(INPUTS)
    layer(inputs)
    kernel = layer.cell.recurrent_kernel.value
    forwards = tf.autodiff.ForwardAccumulator(kernel, tf.ones_like(kernel))
    with pytest.raises(NotImplementedError, match="ForwardAccumulator.*keras.layers.RNN"), forwards:
        layer(inputs)
    with pytest.raises(LookupError, match="differentiated twice, not three times"):
        with tf.GradientTape() as third, tf.GradientTape() as second:
            with tf.GradientTape() as first:
                value = tf.reduce_sum(tf.sin(layer(inputs)[0]))
            penalty = tf.reduce_sum(first.gradient(value, kernel) ** 2)
            penalty = tf.reduce_sum(second.gradient(penalty, kernel) ** 2)
        third.gradient(penalty, kernel)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="forward mode of JAX")
@pytest.mark.parametrize("make", LOOPS.values(), ids=LOOPS)
def test_forward_mode_gives_what_reverse_mode_gives(make):
    import jax

    _, value = make()
    value(INPUTS)
    way = RANDOM.normal(size=INPUTS.shape).astype("float32")
    _, slope = jax.jvp(value, (INPUTS,), (way,))
    np.testing.assert_allclose(slope, np.sum(jax.grad(value)(INPUTS) * way), rtol=1e-3, atol=1e-4)
    twice = jax.jvp(jax.grad(value), (INPUTS,), (way,))[1]
    wanted = jax.grad(lambda x: ops.sum(jax.grad(value)(x) * way))(INPUTS)
    np.testing.assert_allclose(twice, wanted, rtol=1e-3, atol=1e-4)


def test_an_attention_of_all_queries_at_once_is_as_differentiable(penalties):
    layer = SoftAttention(AdditiveScore(4))
    layer(INPUTS, INPUTS)
    found = penalties(lambda x: ops.sum(ops.sin(layer(x, x)[0])), [INPUTS], layer)
    assert all(np.isfinite(one).all() for one in found) and np.abs(found[0]).max() > 1e-3
