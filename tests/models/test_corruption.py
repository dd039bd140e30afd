import keras
import numpy as np
import pytest

from pairloom.models import Corruption

INPUTS = np.random.default_rng(0).uniform(1.0, 2.0, size=(100, 200)).astype("float32")


def spoil(layer, inputs=INPUTS, **kwargs):
    return keras.ops.convert_to_numpy(layer(inputs, **kwargs))


@pytest.mark.parametrize("noise", ["gaussian", "masking"])
def test_only_training_is_spoiled_and_each_time_anew(noise):
    layer = Corruption(noise, 0.5)
    np.testing.assert_array_equal(spoil(layer), INPUTS)
    once, again = spoil(layer, training=True), spoil(layer, training=True)
    assert (once != INPUTS).any() and (once != again).any()


def test_gaussian_noise_has_the_stated_deviation():
    noise = spoil(Corruption("gaussian", 0.3, seed=1), training=True) - INPUTS
    # Of 20,000 draws the mean is known to 0.3 / sqrt(20,000), the deviation as well.
    assert abs(noise.mean()) < 0.01
    assert abs(noise.std() - 0.3) < 0.01


def test_masking_zeroes_the_stated_share_and_leaves_the_rest_as_it_was():
    spoiled = spoil(Corruption("masking", 0.3, seed=1), training=True)
    gone = spoiled == 0.0
    assert abs(gone.mean() - 0.3) < 0.02
    np.testing.assert_array_equal(spoiled[~gone], INPUTS[~gone])


@pytest.mark.parametrize("amount, share", [(0.0, 0.0), (1.0, 1.0)])
def test_masking_none_or_all(amount, share):
    spoiled = spoil(Corruption("masking", amount), training=True)
    assert (spoiled == 0.0).mean() == share


@pytest.mark.parametrize("noise", ["gaussian", "masking"])
def test_a_seed_gives_the_same_noise_and_is_saved(noise):
    layer = Corruption(noise, 0.3, seed=7)
    copy = Corruption.from_config(layer.get_config())
    np.testing.assert_array_equal(spoil(layer, training=True), spoil(copy, training=True))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
@pytest.mark.parametrize("noise", ["gaussian", "masking"])
def test_the_type_stays(noise, policy, float64):
    layer = Corruption(noise, 0.3, dtype=policy)
    for training in (True, False):
        spoiled = layer(INPUTS, training=training)
        dtype = keras.backend.standardize_dtype(spoiled.dtype)
        assert dtype == layer.compute_dtype
        assert np.isfinite(keras.ops.convert_to_numpy(keras.ops.cast(spoiled, "float32"))).all()


def test_an_impossible_setting_is_an_error():
    with pytest.raises(ValueError, match="`noise` must be one of.*Received: noise='salt'"):
        Corruption("salt")
    with pytest.raises(ValueError, match="`amount` must be from 0 to 1. Received: amount=1.5"):
        Corruption("masking", 1.5)
    with pytest.raises(ValueError, match="`amount` must be at least 0. Received: amount=-1"):
        Corruption("gaussian", -1)
