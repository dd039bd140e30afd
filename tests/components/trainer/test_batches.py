import numpy as np
import pytest

from pairloom.components.trainer.batches import bucket_bounds, in_batches, read_pairs


@pytest.fixture
def pairs(pair_files, spec):
    return read_pairs(pair_files[0], spec, "source", "target")


def rows(batches):
    """All pairs of all batches, without padding."""
    return sorted(
        (tuple(s[s > 0]), tuple(t[t > 0]))
        for source, target in batches.as_numpy_iterator()
        for s, t in zip(source, target)
    )


def test_a_pair_is_read_with_its_target_between_begin_and_end(pairs):
    for source, target in pairs.take(20).as_numpy_iterator():
        assert target[0] == 2 and target[-1] == 3
        np.testing.assert_array_equal(target[1:-1], source[::-1])


def test_every_pair_is_in_exactly_one_batch(pairs):
    expected = sorted((tuple(s), tuple(t)) for s, t in pairs.as_numpy_iterator())
    assert rows(in_batches(pairs, 64)) == expected
    assert rows(in_batches(pairs, 64, shuffle_seed=3)) == expected


def test_a_batch_holds_no_more_tokens_than_asked_for(pairs):
    for source, target in in_batches(pairs, 64, shuffle_seed=1).as_numpy_iterator():
        assert source.size <= 64
        assert (target[:, 1:-1] > 0).sum() <= 64


def test_lengths_in_a_batch_are_alike(pairs):
    for _, target in in_batches(pairs, 4096).as_numpy_iterator():
        lengths = (target > 0).sum(1)
        assert lengths.max() - lengths.min() <= 3


def test_the_same_seed_gives_the_same_batches(pairs):
    def stream(seed):
        return [s.tolist() for s, _ in in_batches(pairs, 64, shuffle_seed=seed).as_numpy_iterator()]

    assert stream(1) == stream(1)
    assert stream(1) != stream(2)


def test_fixed_shapes_are_few(pairs):
    shapes = {
        (source.shape, target.shape)
        for source, target in in_batches(
            pairs, 64, shuffle_seed=1, fixed_shapes=True
        ).as_numpy_iterator()
    }
    assert 0 < len(shapes) <= 4


def test_bounds_rise_to_the_size_of_a_batch():
    bounds = bucket_bounds(2048)
    assert bounds == sorted(set(bounds))
    assert bounds[-1] < 2048 <= bounds[-1] * 1.2
    assert len(bounds) < 70
