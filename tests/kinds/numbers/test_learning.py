import json
from collections import Counter

import numpy as np
import pytest

from pairloom.kinds.numbers.learning import count, learn

VECTORS = np.random.default_rng(0).normal(3, 2, (50, 4))


def learned(*groups):
    """Of vectors that were counted apart, and added up."""
    total = Counter()
    for group in groups:
        table = Counter()
        count(group, table)
        total.update(table)
    model, summary = learn(total, {})
    return json.loads(model), summary


def test_mean_and_deviation_are_those_of_every_place():
    known, summary = learned(VECTORS)
    np.testing.assert_allclose(known["mean"], VECTORS.mean(0))
    np.testing.assert_allclose(known["deviation"], VECTORS.std(0))
    assert summary == {"width": 4, "rows": 50}


@pytest.mark.parametrize("at", [1, 20])
def test_it_does_not_matter_how_vectors_are_split(at):
    known, _ = learned(VECTORS[:at], VECTORS[at:])
    np.testing.assert_allclose(known["mean"], VECTORS.mean(0))
    np.testing.assert_allclose(known["deviation"], VECTORS.std(0))


def test_numbers_that_never_change_deviate_by_nothing():
    known, _ = learned([[0.1, -5.0]] * 30)
    np.testing.assert_allclose(known["mean"], [0.1, -5.0])
    np.testing.assert_allclose(known["deviation"], [0.0, 0.0], atol=1e-6)


def test_numbers_below_zero_and_zeros_alone_are_learned_from():
    known, _ = learned([[-1.0, 0.0], [-3.0, 0.0]])
    assert known == {"mean": [-2.0, 0.0], "deviation": [1.0, 0.0]}


def test_vectors_of_unequal_width_are_an_error_that_counts_them():
    message = "equally many.*Received: rows 2 of 1, 3 of 2 numbers. State `width`"
    with pytest.raises(ValueError, match=message):
        learned([[1.0]] * 2, [[1.0, 2.0]] * 3)


def test_no_vectors_are_an_error():
    with pytest.raises(ValueError, match="equally many"):
        learned([])


def test_what_is_not_a_number_is_an_error_and_no_mean():
    with pytest.raises(ValueError, match="finite"):
        learned([[1.0, float("nan")]])
