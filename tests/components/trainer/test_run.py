import dataclasses

import pytest

from pairloom.components.trainer.run import member_settings, sample_pairs
from pairloom.components.trainer.settings import TrainingSettings


def test_members_of_an_ensemble_differ_in_their_seed_and_share_the_minutes():
    settings = TrainingSettings(seed=5, minutes=12)
    members = [member_settings(settings, number, 3) for number in range(3)]
    assert [member.seed for member in members] == [5, 6, 7]
    assert sum(member.minutes for member in members) == 12


def test_samples_are_a_short_a_middling_and_a_long_pair(pair_files):
    pairs = pair_files.pairs()[1]
    samples = sample_pairs(pairs)
    (chunk,) = pairs.chunks()
    lengths = sorted(chunk.inputs["source"].extents()[:, 0])
    assert [len(sample["source"]) for sample in samples] == [lengths[0], lengths[20], lengths[-1]]
    assert all(sample["target"] == sample["source"][::-1] for sample in samples)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_pairs_give_few_samples(count, few_pairs):
    samples = sample_pairs(few_pairs([([4] * (n + 1), [5]) for n in range(count)]))
    assert samples == [{"source": b"a" * (n + 1), "target": b"b"} for n in range(count)]


def test_an_input_that_is_the_output_too_is_sampled_once(few_pairs):
    pairs = few_pairs([([4, 5], [6])])
    copied = dataclasses.replace(pairs, inputs={"target": pairs.output})
    assert sample_pairs(copied) == [{"target": b"c"}]


def test_without_inputs_samples_are_chosen_by_the_target(few_pairs):
    pairs = dataclasses.replace(few_pairs([([4], [6] * n) for n in (3, 1, 2)]), inputs={})
    assert sample_pairs(pairs) == [{"target": b"c" * n} for n in (1, 2, 3)]
