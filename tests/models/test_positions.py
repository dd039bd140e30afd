import numpy as np
import pytest
from keras import ops

from pairloom.models.positions import sinusoids


@pytest.mark.parametrize("units", [1, 6, 7])
@pytest.mark.parametrize("offset", [0, 3])
def test_places_are_the_paper_s_sinusoids(units, offset):
    made = ops.convert_to_numpy(sinusoids(5, units, offset))
    assert made.shape == (5, units)
    for row in range(5):
        for column in range(units):
            angle = (row + offset) / 10000 ** (2 * (column // 2) / units)
            wanted = np.cos(angle) if column % 2 else np.sin(angle)
            np.testing.assert_allclose(made[row, column], wanted, atol=1e-6)


def test_a_place_is_the_same_wherever_the_count_begins():
    whole = ops.convert_to_numpy(sinusoids(300, 16))
    later = ops.convert_to_numpy(sinusoids(1, 16, ops.convert_to_tensor(299)))
    np.testing.assert_allclose(later, whole[299:], atol=1e-6)


def test_every_row_is_as_long_as_promised():
    made = ops.convert_to_numpy(sinusoids(50, 64))
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 32**0.5, rtol=1e-5)


def test_half_precision_is_rounded_last():
    made = ops.convert_to_numpy(sinusoids(2000, 8, dtype="float16"))
    assert made.dtype == np.float16
    np.testing.assert_allclose(made, ops.convert_to_numpy(sinusoids(2000, 8)), atol=1e-3)
