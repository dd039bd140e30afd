import keras
import numpy as np

from pairloom.models import ImageEncoder

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, size=(2, 32, 48, 3)).astype("uint8")


def encode(encoder, images=IMAGES):
    return keras.tree.map_structure(keras.ops.convert_to_numpy, encoder(images))


def test_a_memory_has_the_maps_locations_row_after_row():
    encoder = ImageEncoder(units=6)
    memory = encode(encoder)
    kernel, bias = encoder.projection.get_weights()
    maps = keras.ops.convert_to_numpy(encoder.convolution(IMAGES))
    for image, row, column in np.ndindex(2, 2, 3):
        expected = maps[image, row, column] @ kernel + bias
        np.testing.assert_allclose(memory.states[image, 3 * row + column], expected, atol=1e-5)
    assert memory.mask.shape == (2, 6) and memory.mask.all()
    np.testing.assert_array_equal(memory.grid, [[2, 3], [2, 3]])
    assert memory.grid.dtype == "int32"


def test_the_summary_is_the_mean_over_locations():
    memory = encode(ImageEncoder(units=6))
    np.testing.assert_allclose(memory.summary, memory.states.mean(1), atol=1e-6)


def test_images_of_any_size_and_sides_that_16_does_not_divide():
    encoder = ImageEncoder(units=6)
    encode(encoder)
    memory = encode(encoder, IMAGES[:, :31, :17])
    np.testing.assert_array_equal(memory.grid, [[2, 2], [2, 2]])
    assert memory.states.shape == encoder.compute_output_shape((2, 31, 17, 3)).states


def test_the_networks_settings_are_kept():
    encoder = ImageEncoder("small", 6, trainable_backbone=False)
    copy = ImageEncoder.from_config(encoder.get_config())
    assert copy.get_config() == encoder.get_config()
    assert not copy.convolution.trainable_weights
