import numpy as np

from pairloom.serving.pictures.resample import shrunk, spread


def test_a_small_image_stays_itself():
    image = np.zeros((4, 6, 3), np.uint8)
    assert shrunk(image, 6) is image


def test_shrinking_keeps_shape_and_mean():
    image = np.random.default_rng(0).integers(0, 256, (90, 160, 3), dtype=np.uint8)
    small = shrunk(image, 40)
    assert small.shape == (22, 40, 3) and small.dtype == np.uint8
    np.testing.assert_allclose(small.mean((0, 1)), image.mean((0, 1)), atol=2)


def test_shrinking_keeps_things_in_their_place():
    image = np.zeros((100, 200, 3), np.uint8)
    image[:50, 100:, 0] = 200
    small = shrunk(image, 20)
    assert (small[:4, 11:, 0] == 200).all() and not small[6:].any() and not small[:, :9].any()


def mean_under_a_gaussian(weights, row, column):
    total = mass = 0.0
    for r in range(weights.shape[0]):
        for c in range(weights.shape[1]):
            near = np.exp(-((row - r) ** 2 + (column - c) ** 2) / (2 * 0.5**2))
            total, mass = total + near * weights[r, c], mass + near
    return total / mass


def test_spreading_agrees_with_a_plain_loop_over_cells():
    weights = np.random.default_rng(0).random((3, 4))
    # A point of 9 by 8 is the third of a row and the half of a column.
    plain = np.array(
        [
            [
                mean_under_a_gaussian(weights, (y + 0.5) / 3 - 0.5, (x + 0.5) / 2 - 0.5)
                for x in range(8)
            ]
            for y in range(9)
        ]
    )
    np.testing.assert_allclose(spread(weights, 9, 8), plain / plain.max())


def test_the_brightest_point_is_one_and_equal_weights_are_ones():
    assert spread(np.eye(3) * 0.01, 30, 30).max() == 1
    np.testing.assert_allclose(spread(np.full((3, 4), 0.2), 10, 20), 1)
    assert not spread(np.zeros((2, 2)), 5, 5).any()
