import keras
import numpy as np
import pytest

from pairloom.models.cells import CELLS, make_cell
from pairloom.models.recurrence import Recurrence, portable_kernels
from pairloom.models.recurrence import layer as layer_module
from pairloom.models.recurrence.layer import state_sizes

RANDOM = np.random.default_rng(0)
LENGTHS = [5, 3, 1, 0]


STOCK = ("gru", "lstm")


def make(name="gru", both_ways=True, backwards=False):
    other = make_cell(name, 4) if both_ways else None
    layer = Recurrence(make_cell(name, 4), other, backwards)
    layer.build((None, None, 6))
    return layer


def batch(time=5):
    inputs = RANDOM.normal(size=(4, time, 6)).astype("float32")
    mask = np.arange(time)[None] < np.array(LENGTHS)[:, None]
    return inputs, mask


def by_hand(cell, inputs, length, backwards):
    """Keras's own cell, stepped over the real positions of one sequence."""
    states = [np.zeros((1, 4), "float32")] * len(state_sizes(cell))
    outputs = np.zeros((inputs.shape[0], 4), "float32")
    times = range(length)
    for t in reversed(times) if backwards else times:
        output, states = cell(inputs[None, t], states)
        outputs[t] = output[0]
    return outputs, states


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("backwards", [False, True])
def test_both_directions_are_the_cell_stepped_by_hand(name, backwards):
    layer = make(name, backwards=backwards)
    inputs, mask = batch()
    outputs, states = layer(inputs, inputs_mask=mask)
    half = len(states) // 2
    for row, length in enumerate(LENGTHS):
        forward, last = by_hand(layer.cell, inputs[row], length, backwards)
        backward, first = by_hand(layer.backward_cell, inputs[row], length, not backwards)
        np.testing.assert_allclose(outputs[row, :, :4], forward, atol=1e-6)
        np.testing.assert_allclose(outputs[row, :, 4:], backward, atol=1e-6)
        for state, wanted in zip(states[:half] + states[half:], last + first):
            np.testing.assert_allclose(state[row], wanted[0], atol=1e-6)


def test_one_way_backwards_is_the_other_way_of_both():
    both = make()
    one = Recurrence(both.backward_cell, backwards=True)
    inputs, mask = batch()
    outputs, states = both(inputs, inputs_mask=mask)
    alone, (last,) = one(inputs, inputs_mask=mask)
    np.testing.assert_allclose(alone, outputs[..., 4:], atol=1e-6)
    np.testing.assert_allclose(last, states[1], atol=1e-6)


def test_padding_never_changes_a_result():
    layer = make()
    inputs, mask = batch()
    outputs, states = layer(inputs, inputs_mask=mask)
    noise = RANDOM.normal(size=(4, 3, 6)).astype("float32")
    longer = np.concatenate([np.where(mask[..., None], inputs, 9.0), noise], 1)
    longer_mask = np.pad(mask, [(0, 0), (0, 3)])
    padded, padded_states = layer(longer, inputs_mask=longer_mask)
    np.testing.assert_allclose(padded[:, :5], outputs, atol=1e-6)
    np.testing.assert_allclose(padded[:, 5:], 0.0)
    np.testing.assert_allclose(padded_states[0], states[0], atol=1e-6)


@pytest.mark.parametrize("name", STOCK)
def test_stock_layers_give_the_same_as_the_loop(name, monkeypatch):
    layer = make(name)
    inputs, mask = batch()
    outputs, states = layer(inputs, inputs_mask=mask)
    monkeypatch.setattr(layer_module, "_fused_kernels_serve", lambda cell: True)
    stock, stock_states = layer(inputs, inputs_mask=mask)
    np.testing.assert_allclose(stock, outputs, atol=1e-5)
    for ours, theirs in zip(states, stock_states):
        np.testing.assert_allclose(theirs, ours, atol=1e-5)


@pytest.mark.needs_tensorflow
def test_a_mask_with_gaps_is_never_given_to_fused_kernels(monkeypatch):
    layer = make()
    inputs, mask = batch()
    mask[0, 2] = False
    outputs, _ = layer(inputs, inputs_mask=mask)
    monkeypatch.setattr(layer_module, "_fused_kernels_serve", lambda cell: True)
    monkeypatch.setattr(Recurrence, "_fused", lambda *_: pytest.fail("cuDNN refuses this mask"))
    np.testing.assert_array_equal(layer(inputs, inputs_mask=mask)[0], outputs)


@pytest.mark.needs_tensorflow
def test_fused_kernels_serve_the_stock_cells_where_there_is_a_gpu(monkeypatch):
    import tensorflow as tf

    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: ["GPU:0"])
    assert layer_module._fused_kernels_serve(make_cell("gru", 4))
    assert not layer_module._fused_kernels_serve(make_cell("simple", 4))
    with portable_kernels():
        assert not layer_module._fused_kernels_serve(make_cell("gru", 4))


@pytest.mark.parametrize("both_ways", [True, False])
def test_save_and_load(both_ways, tmp_path):
    inputs = keras.Input((5, 6))
    model = keras.Model(inputs, make(both_ways=both_ways)(inputs)[0])
    x, _ = batch()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(x), model(x), atol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(policy):
    layer = make()
    inputs, mask = batch()
    expected, _ = layer(inputs, inputs_mask=mask)
    half = Recurrence(
        make_cell("gru", 4, dtype=policy), make_cell("gru", 4, dtype=policy), dtype=policy
    )
    half.build((None, None, 6))
    half.set_weights(layer.get_weights())
    outputs, _ = half(inputs, inputs_mask=mask)
    assert keras.backend.standardize_dtype(outputs.dtype) == policy.removeprefix("mixed_")
    np.testing.assert_allclose(keras.ops.cast(outputs, "float32"), expected, atol=0.05)


def test_the_mask_of_an_embedding_is_taken():
    ids = np.array([[3, 4, 0, 0], [5, 0, 0, 0]])
    embedding = keras.layers.Embedding(6, 6, mask_zero=True)
    layer = make()
    outputs, _ = layer(embedding(ids))
    expected, _ = layer(embedding(ids), inputs_mask=ids != 0)
    outputs = keras.ops.convert_to_numpy(outputs)
    np.testing.assert_allclose(outputs, keras.ops.convert_to_numpy(expected), atol=1e-6)
    assert not outputs[ids == 0].any()


def to_numpy(tensor):
    return np.array(keras.ops.convert_to_numpy(tensor))


KERAS_CELLS = {
    "gru": lambda: keras.layers.GRUCell(4),
    "lstm": lambda: keras.layers.LSTMCell(4),
    "stacked": lambda: keras.layers.StackedRNNCells(
        [keras.layers.GRUCell(5), keras.layers.SimpleRNNCell(4)]
    ),
    "ours": lambda: make_cell("gru", 4),
}


@pytest.mark.parametrize("make_one", KERAS_CELLS.values(), ids=KERAS_CELLS)
@pytest.mark.parametrize("how", [{}, {"go_backwards": True}, {"return_sequences": False}])
def test_it_is_keras_s_own_loop(make_one, how):
    inputs, mask = batch()
    mask = mask[:3]  # Keras's loop leaves a row with nothing as it began.
    inputs = inputs[:3]
    cell = make_one()
    ours = Recurrence(cell, **how)
    theirs = keras.layers.RNN(cell, **{"return_sequences": True, "return_state": True, **how})
    made, states = ours(inputs, inputs_mask=mask)
    wanted, *wanted_states = theirs(inputs, mask=mask)
    if how.get("return_sequences", True):
        here = mask[:, ::-1] if "go_backwards" in how else mask
        wanted = to_numpy(wanted) * here[..., None]
    np.testing.assert_allclose(to_numpy(made), to_numpy(wanted), atol=1e-5)
    for one, other in zip(states, keras.tree.flatten(wanted_states)):
        np.testing.assert_allclose(to_numpy(one), to_numpy(other), atol=1e-5)


def test_a_sequence_goes_on_from_the_states_it_was_left_in():
    inputs, _ = batch()
    layer = make("lstm", both_ways=False)
    whole, states = layer(inputs)
    _, middle = layer(inputs[:, :2])
    rest, ends = layer(inputs[:, 2:], initial_state=middle)
    np.testing.assert_allclose(to_numpy(rest), to_numpy(whole)[:, 2:], atol=1e-5)
    np.testing.assert_allclose(to_numpy(ends[1]), to_numpy(states[1]), atol=1e-5)
    with pytest.raises(ValueError, match="must have 2 states.*Received: 1"):
        layer(inputs, initial_state=middle[:1])


@pytest.mark.parametrize("backwards", [False, True])
def test_the_last_outputs_are_those_of_each_direction_s_last_step(backwards):
    inputs, mask = batch()
    layer = make(backwards=backwards)
    _, (one, other) = layer(inputs, inputs_mask=mask)
    last = Recurrence(
        layer.cell, layer.backward_cell, backwards, return_sequences=False, return_state=False
    )(inputs, inputs_mask=mask)
    wanted = np.concatenate([to_numpy(one), to_numpy(other)], -1)
    np.testing.assert_allclose(to_numpy(last), wanted, atol=1e-6)


def test_it_stands_in_a_sequential_model_and_hands_the_mask_on(tmp_path):
    model = keras.Sequential(
        [
            keras.Input((5,), dtype="int32"),
            keras.layers.Embedding(9, 6, mask_zero=True),
            Recurrence(make_cell("gru", 4), make_cell("gru", 4), return_state=False),
            Recurrence(keras.layers.LSTMCell(3), return_sequences=False, return_state=False),
        ]
    )
    ids = np.array([[4, 5, 6, 0, 0], [7, 8, 0, 0, 0]])
    made = to_numpy(model(ids))
    assert made.shape == model.output_shape[:0] + (2, 3)
    short = to_numpy(model(np.pad(ids[:, :3], [(0, 0), (0, 2)])))
    np.testing.assert_allclose(made, short, atol=1e-6)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(to_numpy(loaded(ids)), made, atol=1e-6)


def test_a_type_reaches_the_cells_and_comes_back_from_a_configuration():
    layer = Recurrence(make_cell("gru", 4), dtype="mixed_bfloat16")
    assert layer.cell.compute_dtype == "bfloat16"
    layer = Recurrence(make_cell("gru", 4, dtype="float32"))
    again = Recurrence.from_config(layer.get_config())
    assert again.cell.compute_dtype == "float32" and again.return_sequences


def test_what_it_cannot_run_is_refused():
    with pytest.raises(TypeError, match="runs cells, such as.*Received: builtins.int"):
        Recurrence(8)
    with pytest.raises(ValueError, match="must have no dropout"):
        Recurrence(keras.layers.GRUCell(8, dropout=0.5))
    with pytest.raises(ValueError, match="`go_backwards` is for one cell alone"):
        Recurrence(make_cell("gru", 4), make_cell("gru", 4), go_backwards=True)
