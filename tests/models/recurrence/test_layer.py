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


def test_a_cell_of_keras_is_refused():
    with pytest.raises(TypeError, match=r"runs pairloom's cells.*keras.layers.RNN"):
        Recurrence(keras.layers.GRUCell(8))
