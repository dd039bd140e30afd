import numpy as np
import pytest

from pairloom.serving.pictures.checks import as_shares, checked_image, checked_numbers


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64, list])
def test_numbers_of_any_kind_become_float64(kind):
    values = [0, 1, 2] if kind is list else np.array([0, 1, 2], kind)
    numbers = checked_numbers("values", values)
    assert numbers.dtype == np.float64 and numbers.tolist() == [0, 1, 2]


def test_the_given_array_is_not_changed():
    weights = np.array([1.0, 2.0])
    as_shares(checked_numbers("weights", weights))
    assert weights.tolist() == [1, 2]


def test_shares_are_of_the_strongest():
    assert as_shares(np.array([0.0, 0.1, 0.4])).tolist() == [0, 0.25, 1]
    assert as_shares(np.zeros(2)).tolist() == [0, 0]
    assert as_shares(np.zeros((0, 3))).shape == (0, 3)


def test_floats_are_rounded_to_the_nearest_byte():
    image = checked_image("image", np.array([[[0.0, 0.5, 1.0]]]))
    assert image.dtype == np.uint8 and image.tolist() == [[[0, 128, 255]]]


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 4), (4, 4, 4), (1, 4, 4, 3)])
def test_an_image_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"`image` must be \(height, width, 3\). Received: shape"):
        checked_image("image", np.zeros(shape))
