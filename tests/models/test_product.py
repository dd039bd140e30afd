import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models.product import narrowed, product, products_in


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


def test_products_in_bfloat16_are_rounded_and_their_results_wide():
    x, kernel = ops.ones((2, 3, 4)) * 1.001, ops.ones((4, 5))
    with products_in("bfloat16"):
        narrow = product(x, kernel, ops.ones((5,)) * 1.001)
    assert keras.backend.standardize_dtype(narrow.dtype) == "float32"
    # 1.001 is 1 in eight bits; what is added to a product is not part of it.
    np.testing.assert_allclose(ops.convert_to_numpy(narrow), 5.001, rtol=1e-6)
    np.testing.assert_allclose(ops.convert_to_numpy(product(x, kernel)), 4.004, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 1), (2, 4, 5)], ids=["vector", "a kernel for each row"])
def test_thin_products_keep_their_type(shape):
    kernel = ops.ones(shape)
    with products_in("bfloat16"):
        assert narrowed(kernel) is kernel


def test_products_of_a_policy_keep_its_type():
    kernel = ops.cast(ops.ones((4, 5)), "float16")
    with products_in("bfloat16"):
        assert narrowed(kernel) is kernel
