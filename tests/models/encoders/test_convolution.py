import shutil
from pathlib import Path

import keras
import numpy as np
import pytest

from pairloom.models import ImageEncoder
from pairloom.models.encoders.convolution import Convolution

RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, size=(2, 32, 48, 3)).astype("uint8")
LITTLE = {"backbone": "MobileNetV2", "backbone_options": {"alpha": 0.35}}


def to_map(layer, images=IMAGES, **kwargs):
    return keras.ops.convert_to_numpy(layer(images, **kwargs))


def convolve(image, kernel):
    """A 3 by 3 convolution of stride 2 over an image of even sides, zeros beyond the far ones."""
    image = np.pad(image, [(0, 1), (0, 1), (0, 0)])
    rows, columns = (image.shape[0] - 1) // 2, (image.shape[1] - 1) // 2
    result = np.zeros((rows, columns, kernel.shape[-1]))
    for i, j in np.ndindex(rows, columns):
        patch = image[2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        result[i, j] = np.tensordot(patch, kernel, 3)
    return result


def normalise(image, scale, shift):
    groups = image.reshape(*image.shape[:2], 8, -1)
    mean = groups.mean((0, 1, 3), keepdims=True)
    variance = groups.var((0, 1, 3), keepdims=True)
    return ((groups - mean) / np.sqrt(variance + 1e-3)).reshape(image.shape) * scale + shift


def test_the_small_network_is_four_stages_of_convolution_norm_and_relu():
    layer = Convolution()
    weights = [RANDOM.normal(size=w.shape) * 0.2 for w in layer.backbone.weights]
    layer.backbone.set_weights(weights)
    got = to_map(layer)
    assert got.shape == (2, 2, 3, 256)
    for row, image in enumerate(IMAGES):
        x = image / 127.5 - 1.0
        for stage in range(4):
            kernel, scale, shift = weights[3 * stage : 3 * stage + 3]
            x = np.maximum(normalise(convolve(x, kernel), scale, shift), 0.0)
        np.testing.assert_allclose(got[row], x, atol=1e-3)


def convolve_any(image, kernel, stride):
    """As TensorFlow's padding `same` has it, for sides that the stride divides."""
    missing = kernel.shape[0] - stride
    image = np.pad(image, [(missing // 2, missing - missing // 2)] * 2 + [(0, 0)])
    rows, columns = ((side - kernel.shape[0]) // stride + 1 for side in image.shape[:2])
    result = np.zeros((rows, columns, kernel.shape[-1]))
    for i, j in np.ndindex(rows, columns):
        at = slice(stride * i, stride * i + kernel.shape[0])
        result[i, j] = np.tensordot(image[at, stride * j : stride * j + len(kernel)], kernel, 3)
    return result


def test_the_residual_network_adds_what_two_convolutions_see():
    layer = Convolution("residual")
    weights = [RANDOM.normal(size=w.shape) * 0.1 for w in layer.backbone.weights]
    order = {w.path: value for w, value in zip(layer.backbone.weights, weights)}
    layer.backbone.set_weights(weights)
    convolutions = [k for path, k in order.items() if path.endswith("kernel")]
    norms = [k for path, k in order.items() if path.endswith(("gamma", "beta"))]
    kernels = {k.shape: k for k in convolutions}
    assert len(kernels) == len(convolutions) == 7 and len(norms) == 10
    scales = dict(zip(("stem", "first", "second", "third", "fourth"), zip(norms[::2], norms[1::2])))
    x = IMAGES[0] / 127.5 - 1.0
    x = np.maximum(normalise(convolve_any(x, kernels[4, 4, 3, 64], 4), *scales["stem"]), 0)
    for (wide, channels), (one, two) in {
        (64, 128): ("first", "second"),
        (128, 256): ("third", "fourth"),
    }.items():
        inner = convolve_any(x, kernels[3, 3, wide, channels], 2)
        inner = np.maximum(normalise(inner, *scales[one]), 0)
        inner = normalise(convolve_any(inner, kernels[3, 3, channels, channels], 1), *scales[two])
        halved = np.stack([x[i::2, j::2] for i in range(2) for j in range(2)]).mean(0)
        x = np.maximum(halved @ kernels[1, 1, wide, channels][0, 0] + inner, 0)
    np.testing.assert_allclose(to_map(layer)[0], x, atol=1e-3)


def test_integers_and_floats_are_the_same_picture_and_neither_is_changed():
    layer = Convolution()
    floats = IMAGES.astype("float32")
    np.testing.assert_allclose(to_map(layer, floats), to_map(layer), atol=1e-6)
    np.testing.assert_array_equal(floats, IMAGES)


def test_the_small_network_is_the_same_in_training():
    layer = Convolution()
    np.testing.assert_array_equal(to_map(layer, training=True), to_map(layer))


def test_a_model_of_keras_gets_the_pixels_it_was_made_for():
    layer = Convolution(**LITTLE)
    pixels = keras.applications.mobilenet_v2.preprocess_input(IMAGES.astype("float32"))
    expected = keras.ops.convert_to_numpy(layer.backbone(pixels))
    np.testing.assert_allclose(to_map(layer), expected, atol=1e-5)
    assert layer.compute_output_shape(IMAGES.shape) == expected.shape


@pytest.mark.parametrize("name", ["mobilenetv2", "MOBILENETV2"])
def test_names_are_known_in_any_case(name):
    layer = Convolution(name, backbone_options=LITTLE["backbone_options"])
    assert layer.compute_output_shape((None, 224, 224, 3)) == (None, 7, 7, 1280)


@pytest.fixture(scope="module")
def weights_file(tmp_path_factory):
    donor = Convolution(**LITTLE)
    path = tmp_path_factory.mktemp("weights") / "little.weights.h5"
    donor.backbone.save_weights(path)
    return str(path), to_map(donor)


def test_weights_come_from_a_file_and_then_do_not_learn(weights_file):
    path, expected = weights_file
    layer = Convolution(**LITTLE, weights=path)
    np.testing.assert_allclose(to_map(layer), expected, atol=1e-6)
    assert layer.trainable_weights == []
    # Frozen, batch normalisation uses what it has learned, in training too.
    np.testing.assert_allclose(to_map(layer, training=True), expected, atol=1e-5)
    assert Convolution(**LITTLE, weights=path, trainable_backbone=True).trainable_weights
    assert not Convolution(trainable_backbone=False).trainable_weights


def test_what_is_saved_needs_the_weights_file_no_more(weights_file, tmp_path):
    path = Path(shutil.copy(weights_file[0], tmp_path))
    inputs = keras.Input(IMAGES.shape[1:], dtype="uint8")
    model = keras.Model(inputs, ImageEncoder(units=4, weights=str(path), **LITTLE)(inputs).states)
    expected = to_map(model)
    model.save(tmp_path / "model.keras")
    path.unlink()
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(to_map(loaded), expected, atol=1e-5)
    assert len(loaded.trainable_weights) == len(model.trainable_weights) == 2


def test_a_missing_weights_file_is_an_error_that_names_it():
    with pytest.raises(FileNotFoundError, match="weights='no.h5', which does not exist"):
        Convolution(**LITTLE, weights="no.h5")


def test_an_unknown_network_is_an_error_with_the_nearest_names():
    with pytest.raises(ValueError, match=r"Received: backbone='resnet5O'.*'ResNet50'"):
        Convolution("resnet5O")
    with pytest.raises(ValueError, match="must be one of .*'residual'. or a model in keras.appl"):
        Convolution("%%%")


def test_a_network_has_the_layers_types_and_leaves_the_global_ones():
    before = keras.config.dtype_policy().name
    layer = Convolution(**LITTLE, dtype="mixed_bfloat16")
    assert keras.config.dtype_policy().name == before
    assert keras.backend.standardize_dtype(layer(IMAGES).dtype) == "bfloat16"


def test_images_have_three_channels():
    with pytest.raises(ValueError, match=r"`images` must be of shape .*Received: shape \(2, 32"):
        Convolution()(IMAGES[..., :1])
