import pytest

from pairloom.components.trainer.batches import Pairs
from pairloom.components.trainer.run import drop_other_checkpoints, sample_pairs


def test_a_finished_training_drops_the_weights_of_others_and_keeps_their_logs(tmp_path):
    for name in ("old", "new"):
        for part in ("last", "best", "tensorboard"):
            (tmp_path / name / part).mkdir(parents=True)
            (tmp_path / name / part / "file").touch()
    drop_other_checkpoints(str(tmp_path / "new"))
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    assert left == ["new/best", "new/last", "new/tensorboard", "old/tensorboard"]


class Letters:
    """A vocabulary of the letters from `a`, which is 4; padding, begin and end leave no trace."""

    def text(self, ids):
        import tensorflow as tf

        return tf.constant(["".join(chr(93 + i) for i in row if i > 3) for row in ids])


def test_samples_are_a_short_a_middling_and_a_long_pair(pair_files, spec):
    pairs = Pairs(pair_files[1], spec, "source", "target")
    samples = sample_pairs(pairs, Letters(), Letters())
    lengths = sorted(len(ids) for ids in pairs_of(pairs))
    assert [len(source) for source, _ in samples] == [lengths[0], lengths[20], lengths[-1]]
    assert all(target == source[::-1] for source, target in samples)


def pairs_of(pairs):
    (chunk,) = pairs.chunks()
    starts = chunk.source_starts
    return [chunk.source[start:end] for start, end in zip(starts, starts[1:])]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_pairs_give_few_samples(count, spec, tmp_path, write_pairs):
    write_pairs(tmp_path / "few-0.gz", [([4] * (n + 1), [5]) for n in range(count)])
    samples = sample_pairs(
        Pairs([str(tmp_path / "few-*")], spec, "source", "target"), Letters(), Letters()
    )
    assert samples == [("a" * (n + 1), "b") for n in range(count)]
