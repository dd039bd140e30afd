import keras
import numpy as np
import pytest

from pairloom.models import FrameEncoder

RANDOM = np.random.default_rng(0)
FRAMES = RANDOM.integers(0, 256, size=(3, 4, 16, 32, 3)).astype("uint8")
LENGTHS = [4, 2, 0]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]


def encode(encoder, frames=FRAMES, mask=MASK):
    memory = encoder(frames, frames_mask=mask)
    return keras.tree.map_structure(keras.ops.convert_to_numpy, memory)


def test_a_memory_is_a_recurrence_over_each_frames_mean_vector(numpy_gru):
    encoder = FrameEncoder(units=6)
    memory = encode(encoder)
    for row, length in enumerate(LENGTHS):
        vectors = np.zeros((length, 256))
        for t in range(length):
            image = keras.ops.convert_to_numpy(encoder.convolution(FRAMES[row, t : t + 1]))
            vectors[t] = image[0].mean((0, 1))
        states = numpy_gru(encoder.stack.recurrences[0].cell, vectors)
        np.testing.assert_allclose(memory.states[row, :length], states, atol=1e-5)
        np.testing.assert_array_equal(memory.states[row, length:], 0.0)
        np.testing.assert_allclose(memory.summary[row], states[-1] if length else 0, atol=1e-5)
    np.testing.assert_array_equal(memory.mask, MASK)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_more_frames_that_are_none_never_change_a_memory(bidirectional):
    encoder = FrameEncoder(units=6, cell="lstm", bidirectional=bidirectional)
    memory = encode(encoder)
    junk = np.concatenate([FRAMES, FRAMES[::-1, :2]], 1)
    padded = encode(encoder, junk, np.pad(MASK, [(0, 0), (0, 2)]))
    np.testing.assert_allclose(padded.states[:, :4], memory.states, atol=1e-5)
    np.testing.assert_array_equal(padded.states[:, 4:], 0.0)
    np.testing.assert_allclose(padded.summary, memory.summary, atol=1e-5)


def test_without_a_mask_every_frame_is_there():
    encoder = FrameEncoder(units=6)
    without = encode(encoder, mask=None)
    everywhere = encode(encoder, mask=np.ones((3, 4), bool))
    np.testing.assert_allclose(without.states, everywhere.states, atol=1e-6)
    assert without.mask.all() and without.mask.shape == (3, 4)


def test_clips_have_five_axes():
    with pytest.raises(ValueError, match=r"`frames` must be of shape .*Received: shape \(4, 16"):
        FrameEncoder(units=6)(FRAMES[0])


def test_frames_of_zeros_are_none():
    encoder = FrameEncoder(units=6)
    dark = np.where(MASK[..., None, None, None], np.maximum(FRAMES, 1), 0)
    memory, expected = encode(encoder, dark, None), encode(encoder, dark, MASK)
    np.testing.assert_array_equal(memory.mask, MASK)
    np.testing.assert_allclose(memory.states, expected.states, atol=1e-6)


def test_changes_are_seen_in_place_of_frames():
    encoder, plain = FrameEncoder(units=6, changes=True), FrameEncoder(units=6)
    wide = FRAMES.astype("float32")
    differences = np.full_like(wide, 127.5)
    differences[:, 1:] += (wide[:, 1:] - wide[:, :-1]) / 2
    memory = encode(encoder)
    encode(plain)
    plain.set_weights(encoder.get_weights())
    np.testing.assert_allclose(memory.states, encode(plain, differences).states, atol=1e-5)
    assert FrameEncoder.from_config(encoder.get_config()).changes
