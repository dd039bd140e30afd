import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.models.cells import CELLS, make_cell
from pairloom.models.product import plain_products


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_by_hand(x, states, kernel, recurrent, bias):
    (h,) = states
    units = h.shape[-1]
    columns = [slice(i * units, (i + 1) * units) for i in range(3)]
    xs = [x @ kernel[:, c] + bias[0][c] for c in columns]
    hs = [h @ recurrent[:, c] + bias[1][c] for c in columns]
    z, r = sigmoid(xs[0] + hs[0]), sigmoid(xs[1] + hs[1])
    h = z * h + (1 - z) * np.tanh(xs[2] + r * hs[2])
    return h, [h]


def lstm_by_hand(x, states, kernel, recurrent, bias):
    h, c = states
    units = h.shape[-1]
    gates = x @ kernel + h @ recurrent + bias
    i, f, candidate, o = (gates[:, k * units : (k + 1) * units] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(candidate)
    h = sigmoid(o) * np.tanh(c)
    return h, [h, c]


BY_HAND = {"gru": gru_by_hand, "lstm": lstm_by_hand}


def built(name, units=4, width=5):
    cell = make_cell(name, units, bias_initializer="random_normal")
    cell.build((None, width))
    return cell


def step(cell, x, states):
    return cell.stepper()(cell.project(x), states, plain_products(cell.kernels()))


def random_step(name, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(3, 5)).astype("float32")
    states = [random.normal(size=(3, 4)).astype("float32") for _ in range(1 + (name == "lstm"))]
    return x, states


@pytest.mark.parametrize("name", CELLS)
def test_a_step_is_the_paper_s_formula(name):
    cell = built(name)
    x, states = random_step(name)
    weights = [np.array(w) for w in (cell.kernel, cell.recurrent_kernel, cell.bias)]
    expected, expected_states = BY_HAND[name](x, states, *weights)
    output, new_states = step(cell, x, states)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    for new, wanted in zip(new_states, expected_states):
        np.testing.assert_allclose(new, wanted, atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_project_and_stepper_together_are_the_cell(name):
    cell = built(name)
    x, states = random_step(name)
    output, new_states = cell(x, states)
    ours, our_states = step(cell, x, states)
    np.testing.assert_allclose(ours, output, atol=1e-6)
    np.testing.assert_allclose(our_states[-1], new_states[-1], atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_the_input_product_may_be_made_in_two_parts(name):
    cell = built(name)
    x, _ = random_step(name)
    parts = cell.project(x[:, :3], cell.kernel[:3]) + x[:, 3:] @ np.array(cell.kernel)[3:]
    np.testing.assert_allclose(parts, cell.project(x), atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_the_stepper_s_gradient_is_the_cell_s(name):
    cell = built(name)
    x, states = (tf.nest.map_structure(tf.constant, value) for value in random_step(name))

    def gradients(run):
        weights = [weight.value for weight in cell.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            output, new_states = run(x, states)
            loss = sum(tf.reduce_sum(value**3) for value in (output, *new_states))
        return tape.gradient(loss, [x, *states, *weights])

    for ours, wanted in zip(gradients(lambda x, s: step(cell, x, s)), gradients(cell)):
        np.testing.assert_allclose(ours, wanted, atol=1e-5)


@pytest.mark.parametrize("name", CELLS)
def test_cells_work_in_keras_rnn(name):
    layer = keras.layers.RNN(make_cell(name, 4), return_sequences=True)
    assert layer(np.ones((2, 6, 5), "float32")).shape == (2, 6, 4)


@pytest.mark.parametrize("name", CELLS)
def test_cells_save_and_load(name, tmp_path):
    inputs = keras.Input((6, 5))
    model = keras.Model(inputs, keras.layers.RNN(make_cell(name, 4))(inputs))
    x = np.random.default_rng(1).normal(size=(2, 6, 5)).astype("float32")
    model.save(tmp_path / "cell.keras")
    loaded = keras.models.load_model(tmp_path / "cell.keras")
    np.testing.assert_allclose(loaded(x), model(x), atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_gradients_agree_with_differences(name):
    cell = built(name)
    x, states = random_step(name)

    def value(x):
        return tf.reduce_sum(step(cell, x, states)[0] ** 2)

    theory, numeric = tf.test.compute_gradient(value, [tf.constant(x)], delta=1e-2)
    np.testing.assert_allclose(theory, numeric, atol=2e-2)


def test_the_lstm_s_forget_bias_starts_at_one():
    cell = make_cell("lstm", 4)
    cell.build((None, 5))
    np.testing.assert_allclose(cell.bias[4:8], 1.0)


def test_an_unknown_cell_names_those_there_are():
    with pytest.raises(ValueError, match=r"gru.*lstm.*Received: cell='gur'"):
        make_cell("gur", 4)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_needs_units(name):
    with pytest.raises(ValueError, match="at least 1. Received: units=0"):
        make_cell(name, 0)
