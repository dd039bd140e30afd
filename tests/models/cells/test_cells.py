from functools import partial

import keras
import numpy as np
import pytest

from pairloom.models.cells import CELLS, LSTMCell, make_cell
from pairloom.models.product import plain_products


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_by_hand(cell, x, h):
    kernel, recurrent, bias = (np.array(w) for w in (cell.kernel, cell.recurrent_kernel, cell.bias))
    units = h.shape[-1]
    columns = [slice(i * units, (i + 1) * units) for i in range(3)]
    xs = [x @ kernel[:, c] + bias[0][c] for c in columns]
    hs = [h @ recurrent[:, c] + bias[1][c] for c in columns]
    z, r = sigmoid(xs[0] + hs[0]), sigmoid(xs[1] + hs[1])
    return [z * h + (1 - z) * np.tanh(xs[2] + r * hs[2])]


def lstm_by_hand(cell, x, h, c, removed=None):
    kernel, recurrent, bias = (np.array(w) for w in (cell.kernel, cell.recurrent_kernel, cell.bias))
    sums = x @ kernel + h @ recurrent + bias
    gates = {}
    for name in ("input", "forget", "candidate", "output"):
        if name != removed:
            gates[name], sums = sums[:, : h.shape[-1]], sums[:, h.shape[-1] :]
    assert sums.shape[-1] == 0
    i, f, o = (
        sigmoid(gates[name]) if name in gates else 1.0 for name in ("input", "forget", "output")
    )
    c = f * c + i * np.tanh(gates["candidate"])
    return [o * np.tanh(c), c]


def simple_by_hand(cell, x, h, activation=np.tanh):
    kernel, recurrent, bias = (np.array(w) for w in (cell.kernel, cell.recurrent_kernel, cell.bias))
    return [activation(x @ kernel + h @ recurrent + bias)]


def mutant_parts(cell):
    """The weights by the paper's names; the identity where the input enters as it is."""
    one = np.eye(cell.units)
    xs = {name: np.array(cell.block_kernels.get(name, one)) for name in cell.blocks}
    hs = {name: np.array(kernel) for name, kernel in cell.recurrent_kernels.items()}
    return xs, hs, np.split(np.array(cell.bias), 3)


def mut1_by_hand(cell, x, h):
    xs, hs, (b_z, b_r, b_h) = mutant_parts(cell)
    z = sigmoid(x @ xs["update"] + b_z)
    r = sigmoid(x @ xs["reset"] + h @ hs["reset"] + b_r)
    new = np.tanh((r * h) @ hs["candidate"] + np.tanh(x @ xs["candidate"]) + b_h)
    return [new * z + h * (1 - z)]


def mut2_by_hand(cell, x, h):
    xs, hs, (b_z, b_r, b_h) = mutant_parts(cell)
    z = sigmoid(x @ xs["update"] + h @ hs["update"] + b_z)
    r = sigmoid(x @ xs["reset"] + h @ hs["reset"] + b_r)
    new = np.tanh((r * h) @ hs["candidate"] + x @ xs["candidate"] + b_h)
    return [new * z + h * (1 - z)]


def mut3_by_hand(cell, x, h):
    xs, hs, (b_z, b_r, b_h) = mutant_parts(cell)
    z = sigmoid(x @ xs["update"] + np.tanh(h) @ hs["update"] + b_z)
    r = sigmoid(x @ xs["reset"] + h @ hs["reset"] + b_r)
    new = np.tanh((r * h) @ hs["candidate"] + x @ xs["candidate"] + b_h)
    return [new * z + h * (1 - z)]


BY_HAND = {
    "gru": gru_by_hand,
    "lstm": lstm_by_hand,
    "lstm_without_forget": partial(lstm_by_hand, removed="forget"),
    "lstm_without_input": partial(lstm_by_hand, removed="input"),
    "lstm_without_output": partial(lstm_by_hand, removed="output"),
    "lstm_zero_forget_bias": lstm_by_hand,
    "mut1": mut1_by_hand,
    "mut2": mut2_by_hand,
    "mut3": mut3_by_hand,
    "simple": simple_by_hand,
    "simple_sigmoid": partial(simple_by_hand, activation=sigmoid),
}


def built(name, units=4, width=5):
    cell = make_cell(name, units)
    cell.build((None, width))
    random = np.random.default_rng(7)
    cell.bias.assign(random.normal(size=cell.bias.shape))
    return cell


def step(cell, x, states):
    x, states = keras.tree.map_structure(keras.ops.convert_to_tensor, (x, states))
    return cell.stepper()(cell.project(x), states, plain_products(cell.kernels()))


def random_step(name, seed=0, width=5):
    random = np.random.default_rng(seed)
    x = random.normal(size=(3, width)).astype("float32")
    states = [
        random.normal(size=(3, 4)).astype("float32") for _ in range(1 + name.startswith("lstm"))
    ]
    return x, states


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("width", [4, 5])
def test_a_step_is_the_paper_s_formula(name, width):
    cell = built(name, width=width)
    x, states = random_step(name, width=width)
    expected = BY_HAND[name](cell, x, *states)
    output, new_states = step(cell, x, states)
    np.testing.assert_allclose(output, expected[0], atol=1e-6)
    assert len(new_states) == len(expected)
    for new, wanted in zip(new_states, expected):
        np.testing.assert_allclose(new, wanted, atol=1e-6)


STOCK = {
    "gru": keras.layers.GRUCell,
    "lstm": keras.layers.LSTMCell,
    "simple": keras.layers.SimpleRNNCell,
}


def stock_twin(name, cell):
    """Keras's own cell with the same weights."""
    twin = STOCK[name](4)
    twin.build((None, 5))
    twin.set_weights(cell.get_weights())
    return twin


@pytest.mark.parametrize("name", STOCK)
def test_cells_that_keras_has_too_are_keras_s(name):
    cell = built(name)
    x, states = random_step(name)
    output, new_states = stock_twin(name, cell)(x, states)
    ours, our_states = cell(x, states)
    np.testing.assert_allclose(ours, output, atol=1e-6)
    np.testing.assert_allclose(our_states[-1], new_states[-1], atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_the_input_product_may_be_made_in_two_parts(name):
    cell = built(name)
    x, _ = random_step(name)
    parts = cell.project(x[:, :3], cell.kernel[:3]) + x[:, 3:] @ np.array(cell.kernel)[3:]
    np.testing.assert_allclose(parts, cell.project(x), atol=1e-6)


@pytest.mark.parametrize("name", STOCK)
def test_the_stepper_s_gradient_is_keras_s(name, gradients):
    cell = built(name)
    twin = stock_twin(name, cell)
    x, states = random_step(name)

    def gradients_of(run, owner):
        def loss(x, *states):
            output, new_states = run(x, list(states))
            return sum(keras.ops.sum(value**3) for value in (output, *new_states))

        return gradients(loss, [x, *states], owner)

    found = gradients_of(lambda x, states: step(cell, x, states), cell)
    for ours, wanted in zip(found, gradients_of(twin, twin)):
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
def test_gradients_agree_with_differences(name, gradients, slopes):
    cell = built(name)
    x, states = random_step(name)

    def value(x, *states):
        return keras.ops.sum(step(cell, x, list(states))[0] ** 2)

    for ours, wanted in zip(gradients(value, [x, *states]), slopes(value, [x, *states])):
        np.testing.assert_allclose(ours, wanted, atol=2e-2)


def test_the_lstm_s_forget_bias_starts_at_one():
    cell = make_cell("lstm", 4)
    cell.build((None, 5))
    np.testing.assert_array_equal(cell.bias, [0.0] * 4 + [1.0] * 4 + [0.0] * 8)


def test_the_forget_bias_may_start_anywhere():
    cell = LSTMCell(4, forget_bias=2.5, without_gate="i")
    cell.build((None, 5))
    np.testing.assert_array_equal(cell.bias, [2.5] * 4 + [0.0] * 8)


@pytest.mark.parametrize("letter, gate", [("i", "input"), ("f", "forget"), ("o", "output")])
def test_a_removed_gate_has_no_weights(letter, gate):
    for name in (letter, gate):
        cell = LSTMCell(4, without_gate=name)
        cell.build((None, 5))
        assert cell.without_gate == gate
        assert cell.count_params() == 3 * 4 * (5 + 4 + 1)


def test_an_unknown_gate_is_refused():
    with pytest.raises(ValueError, match="'output' or None. Received: without_gate='cell'"):
        LSTMCell(4, without_gate="cell")


def test_settings_that_the_step_does_not_know_are_refused():
    with pytest.raises(ValueError, match="`activation` of `GRUCell` must be tanh.*'relu'"):
        make_cell("gru", 4, activation="relu")
    with pytest.raises(ValueError, match="`dropout` of `SimpleCell` must be 0.0.*0.3"):
        make_cell("simple", 4, dropout=0.3)


def test_only_cells_that_keras_has_keep_its_fused_kernels():
    fused = {name for name in CELLS if make_cell(name, 4).stock_layer is not None}
    assert fused == {"gru", "lstm", "lstm_zero_forget_bias"}


def test_stacked_and_bidirectional_in_keras():
    stacked = keras.layers.RNN([make_cell(name, 4) for name in CELLS], return_sequences=True)
    both = keras.layers.Bidirectional(keras.layers.RNN(make_cell("mut1", 4)))
    assert both(stacked(np.ones((2, 6, 5), "float32"))).shape == (2, 8)


def test_an_unknown_cell_names_those_there_are():
    with pytest.raises(ValueError, match=r"gru.*lstm.*Received: cell='gur'"):
        make_cell("gur", 4)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_needs_units(name):
    with pytest.raises(ValueError, match="at least 1. Received: units=0"):
        make_cell(name, 0)


@pytest.mark.parametrize("part", ["kernel", "recurrent", "bias"])
@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_regularizers_and_constraints_are_kept(name, part):
    asked = {f"{part}_regularizer": keras.regularizers.L2(0.5), f"{part}_constraint": "non_neg"}
    cell = make_cell(name, 4, **asked)
    cell.build((None, 3))
    weight = cell.recurrent_kernel if part == "recurrent" else getattr(cell, part)
    weight.assign(np.full(weight.shape, 2.0))
    assert isinstance(weight.constraint, keras.constraints.NonNeg)
    np.testing.assert_allclose(sum(cell.losses), 0.5 * 4.0 * np.prod(weight.shape))


def test_the_forget_bias_has_one_name():
    with pytest.raises(ValueError, match="say `forget_bias=1.0`.*unit_forget_bias=False"):
        LSTMCell(4, unit_forget_bias=False)
