import numpy as np
import pytest
from keras import ops

from pairloom.models.search.log_sum import log_sum


@pytest.mark.parametrize("scale", [0.1, 3.0, 500.0])
def test_it_is_the_logarithm_of_the_sum(scale):
    logits = np.random.default_rng(0).normal(0, scale, (4, 3, 50))
    expected = np.logaddexp.reduce(logits, -1)
    found = log_sum(
        ops.convert_to_tensor(logits.astype("float32")), ops.convert_to_tensor(logits.argmax(-1))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
