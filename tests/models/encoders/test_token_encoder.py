import keras
import numpy as np
import pytest

from pairloom.models import RecurrentDecoder, TokenEncoder

IDS = np.array([[4, 5, 6, 7], [8, 9, 0, 0], [5, 0, 0, 0]])


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_memory_has_the_promised_shapes(cell, bidirectional, layers):
    encoder = TokenEncoder(
        10, 6, cell=cell, layers=layers, bidirectional=bidirectional, embedding_units=3
    )
    memory = encoder(IDS)
    promised = encoder.compute_output_shape(IDS.shape)
    assert memory.states.shape == promised.states == (3, 4, 6)
    np.testing.assert_array_equal(memory.mask, IDS != 0)
    assert memory.summary.shape == promised.summary


def test_padding_never_changes_a_memory():
    encoder = TokenEncoder(10, 6, embedding_units=3, layers=2)
    memory = encoder(IDS)
    padded = encoder(np.pad(IDS, [(0, 0), (0, 3)]))
    np.testing.assert_allclose(padded.states[:, :4], memory.states, atol=1e-6)
    np.testing.assert_allclose(padded.summary, memory.summary, atol=1e-6)
    np.testing.assert_array_equal(padded.states[:, 4:], 0.0)


def test_a_two_way_summary_is_the_end_of_one_way_and_the_start_of_the_other():
    encoder = TokenEncoder(10, 6, embedding_units=3)
    memory = encoder(IDS)
    for row, length in enumerate([4, 2, 1]):
        np.testing.assert_allclose(memory.summary[row, :3], memory.states[row, length - 1, :3])
        np.testing.assert_allclose(memory.summary[row, 3:], memory.states[row, 0, 3:])


def test_dropout_is_off_unless_training():
    encoder = TokenEncoder(10, 6, embedding_units=3, dropout=0.5)
    np.testing.assert_array_equal(encoder(IDS).states, encoder(IDS).states)
    assert np.abs(encoder(IDS, training=True).states - encoder(IDS).states).max() > 0


def test_two_directions_need_an_even_width():
    with pytest.raises(ValueError, match="`units` must be even.*Received: units=7"):
        TokenEncoder(10, 7)


def test_an_encoder_needs_a_layer():
    with pytest.raises(ValueError, match="`layers` must be at least 1"):
        TokenEncoder(10, 6, layers=0)


@pytest.mark.parametrize("cell", ["gru", "lstmn"])
def test_a_functional_model_can_hand_a_memory_to_a_decoder(cell):
    source, target = (keras.Input((None,), dtype="int32") for _ in range(2))
    encoder = TokenEncoder(10, 6, cell=cell, bidirectional=False, embedding_units=3)
    decoder = RecurrentDecoder(12, 6, embedding_units=3)
    memory = encoder(source)
    assert memory.mask.dtype == "bool" and memory.grid == ()
    model = keras.Model([source, target], decoder(target, memory))
    logits, weights = model([IDS, IDS])
    expected = decoder(IDS, encoder(IDS))
    np.testing.assert_allclose(logits, expected[0], atol=1e-6)
    np.testing.assert_allclose(weights, expected[1], atol=1e-6)
