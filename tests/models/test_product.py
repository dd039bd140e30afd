import numpy as np
import pytest

from pairloom.models.product import product


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5), (2, 1, 4, 5)])
def test_product_is_the_matrix_product_of_the_last_axis(shape):
    random = np.random.default_rng(0)
    inputs = random.normal(size=shape).astype("float32")
    kernel = random.normal(size=(5, 7)).astype("float32")
    np.testing.assert_allclose(product(inputs, kernel), inputs @ kernel, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
def test_a_bias_is_added_to_every_row(shape):
    random = np.random.default_rng(0)
    inputs, kernel, bias = (
        random.normal(size=size).astype("float32") for size in (shape, (5, 7), (7,))
    )
    np.testing.assert_allclose(product(inputs, kernel, bias), inputs @ kernel + bias, atol=1e-5)


def test_a_kernel_for_each_row_meets_its_own_inputs():
    random = np.random.default_rng(0)
    inputs = random.normal(size=(2, 3, 5)).astype("float32")
    kernels = random.normal(size=(2, 5, 7)).astype("float32")
    np.testing.assert_allclose(product(inputs, kernels), inputs @ kernels, atol=1e-5)


def test_product_of_nothing_is_nothing():
    empty = np.zeros((0, 3, 5), "float32")
    assert product(empty, np.ones((5, 7), "float32")).shape == (0, 3, 7)
