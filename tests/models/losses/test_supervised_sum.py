"""The summed form of supervised attention, which a summed loss adds."""

import numpy as np
import pytest
from keras import ops

from pairloom.models.losses import supervised_attention


def test_the_sum_is_the_mean_times_the_aligned_positions():
    random = np.random.default_rng(0)
    weights = random.dirichlet(np.ones(4), (3, 5)).astype("float32")
    alignment = (random.random((3, 5, 4)) < 0.3).astype("float32")
    mask = np.arange(5) < np.array([5, 3, 0])[:, None]
    aligned = int(np.sum(alignment.any(-1) & mask))
    assert aligned > 1
    mean = float(ops.convert_to_numpy(supervised_attention(weights, alignment, mask)))
    summed = supervised_attention(weights, alignment, mask, reduction="sum")
    assert float(ops.convert_to_numpy(summed)) == pytest.approx(aligned * mean, rel=1e-5)


def test_another_reduction_is_refused():
    with pytest.raises(ValueError, match="'mean' or 'sum'. Received: 'max'"):
        supervised_attention(np.ones((1, 1, 1)), np.ones((1, 1, 1)), reduction="max")
