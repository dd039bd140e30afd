import numpy as np
import pytest

from pairloom.components.trainer import batches as batches_module
from pairloom.components.trainer.batches import (
    Chunk,
    _cut,
    _held_once,
    bucket_bounds,
    in_batches,
    row_by_row,
)
from pairloom.kinds.columns import DenseColumn, RaggedColumn, SharedColumn


def sources_of(count):
    """The sources that the fixture wrote."""
    random = np.random.default_rng(0)
    return [random.integers(4, 12, random.integers(1, 7)).tolist() for _ in range(count)]


@pytest.fixture
def pairs(pair_files):
    return pair_files.pairs()[0]


def stream(pairs, batch_tokens=64, **settings):
    """Every batch as `(source, target)`."""
    batches = in_batches(pairs, batch_tokens, **settings).as_numpy_iterator()
    return [(inputs["source"], target) for inputs, target in batches]


def rows(batches):
    """All pairs of all batches, without padding."""
    return sorted(
        (tuple(s[s > 0]), tuple(t[t > 0]))
        for source, target in batches
        for s, t in zip(source, target)
    )


def test_a_target_stands_between_begin_and_end_and_next_to_its_source(pairs):
    for source, target in stream(pairs, shuffle_seed=1):
        for s, t in zip(source, target):
            inner = t[t > 0]
            assert inner[0] == 2 and inner[-1] == 3
            np.testing.assert_array_equal(inner[1:-1], s[s > 0][::-1])
            assert (t[len(inner) :] == 0).all()


@pytest.mark.parametrize("chunk", [7, 100, 10_000])
def test_every_pair_is_in_exactly_one_batch(pairs, chunk, monkeypatch):
    monkeypatch.setattr(batches_module, "_CHUNK_PAIRS", chunk)
    monkeypatch.setattr(batches_module, "_PARSED_AT_ONCE", 3)
    expected = [(tuple(source), (2, *source[::-1], 3)) for source in sources_of(400)]
    assert rows(stream(pairs)) == sorted(expected)
    assert rows(stream(pairs, shuffle_seed=3)) == sorted(expected)
    assert rows(stream(pairs, shuffle_seed=3, fixed_shapes=True)) == sorted(expected)


def test_a_batch_holds_no_more_than_asked_for(pairs):
    for source, target in stream(pairs, shuffle_seed=1):
        assert source.size <= 64
        assert target[:, 1:].size <= 64 + len(target)


def test_a_pair_longer_than_a_batch_is_a_batch_of_its_own(pairs):
    assert all(len(source) == 1 for source, _ in stream(pairs, batch_tokens=1))


def test_lengths_in_a_batch_are_alike(pairs):
    spreads = [np.ptp((target > 0).sum(1)) for _, target in stream(pairs, shuffle_seed=1)]
    assert np.mean(spreads) < 1


def test_the_same_seed_gives_the_same_batches(pairs):
    def sources(seed):
        return [source.tolist() for source, _ in stream(pairs, shuffle_seed=seed)]

    assert sources(1) == sources(1)
    assert sources(1) != sources(2)


def test_neighbouring_batches_differ_in_length(pairs):
    lengths = [source.shape[1] for source, _ in stream(pairs, shuffle_seed=1)]
    assert lengths != sorted(lengths)


def test_at_most_so_many_pairs_are_taken(pairs):
    assert len(rows(stream(pairs, at_most=37))) == 37


def test_fixed_shapes_have_few_lengths(pairs):
    batches = stream(pairs, shuffle_seed=1, fixed_shapes=True)
    assert len({(source.shape[1], target.shape[1]) for source, target in batches}) <= 3


def test_bounds_rise_to_the_longest():
    bounds = bucket_bounds(300)
    assert bounds == sorted(set(bounds))
    assert bounds[-2] < 300 <= bounds[-1]
    assert len(bounds) < 50


def test_what_is_held_at_once_has_a_limit_in_bytes_too(pairs, monkeypatch):
    monkeypatch.setattr(batches_module, "_CHUNK_BYTES", 200)
    monkeypatch.setattr(batches_module, "_PARSED_AT_ONCE", 3)
    chunks = list(pairs.chunks())
    assert len(chunks) > 50 and sum(map(len, chunks)) == 400


class Ones:
    """A field of which nothing but the number of its rows matters."""

    def __init__(self, *extents):
        self.rows = np.array(extents)

    def __len__(self):
        return len(self.rows)

    def extents(self):
        return self.rows

    def batch(self, rows, least=0):
        return rows


def test_a_pair_is_as_long_as_its_longest_input():
    chunk = Chunk({"a": Ones([3], [1]), "b": Ones([2, 5], [4, 7])}, Ones([1], [2]))
    assert [one.tolist() for one in chunk.extents()] == [[[3], [1]], [[2, 5], [4, 7]], [[1], [2]]]
    assert chunk.longest().tolist() == [3, 4]


def test_without_inputs_the_target_alone_has_a_length():
    assert Chunk({}, Ones([3], [1])).longest().tolist() == [3, 1]


def test_every_field_is_counted_by_itself():
    # A question of 60 words beside a document of 5 sentences of 30 words each.
    chunk = Chunk({"asked": Ones(*[[60]] * 40), "read": Ones(*[[5, 30]] * 40)}, Ones(*[[1]] * 40))
    sizes = [len(rows) for rows, _ in _cut(chunk, np.arange(40), 1500, None, False)]
    assert sizes == [10, 10, 10, 10]


def test_a_batch_of_nested_fields_is_cut_by_all_their_axes():
    random = np.random.default_rng(0)
    extents = random.integers(1, 9, (200, 2))
    chunk = Chunk({"document": Ones(*extents)}, Ones(*np.ones((200, 1), int)))
    cut = batches_module._cut(chunk, np.arange(200), 100, None, False)
    assert sorted(row for rows, _ in cut for row in rows) == list(range(200))
    for rows, _ in cut:
        most, longest = extents[rows].max(0)
        assert len(rows) == 1 or len(rows) * most * longest <= 100
    # The longest by the longest of sixty-four places would fill them with one or two rows each.
    assert len(cut) < 100


def shared_chunk(count=200, each=5):
    """Targets of all lengths, each `each` of which share an input, far from each other."""
    random = np.random.default_rng(3)
    lengths = random.integers(2, 20, count)
    target = RaggedColumn(np.ones(lengths.sum(), np.int32), np.cumsum([0, *lengths]))
    which = random.permutation(count) % (count // each)
    return Chunk({"photo": SharedColumn(DenseColumn(np.arange(count // each)), which)}, target)


@pytest.mark.parametrize("seed", [None, 1])
def test_pairs_that_share_an_input_share_a_batch(seed):
    chunk, rows = shared_chunk(), np.arange(200)
    random = None if seed is None else np.random.default_rng(seed)
    batches = [batch for batch, _ in _cut(chunk, rows, 300, random, False)]
    assert sorted(np.concatenate(batches)) == rows.tolist()
    inputs = [chunk.batch(batch)[0]["photo"] for batch in batches]
    # A batch that is full may end in the midst of those of one input, at either end.
    assert sum(len(photo.values) for photo in inputs) < 40 + len(batches)
    for batch, photo in zip(batches, inputs):
        expected = chunk.inputs["photo"].which[batch]
        np.testing.assert_array_equal(row_by_row({"photo": photo})["photo"], expected)
    widest = [np.diff(chunk.target.starts)[batch].max() * len(batch) for batch in batches]
    assert max(widest) <= 300


def test_inputs_that_are_shared_come_in_another_order_every_epoch():
    chunk, rows = shared_chunk(), np.arange(200)
    first, second = (
        [batch.tolist() for batch, _ in _cut(chunk, rows, 300, np.random.default_rng(n), False)]
        for n in (1, 2)
    )
    assert sorted(map(sorted, first)) != sorted(map(sorted, second))


def test_equal_texts_are_held_once_from_part_to_part():
    known = {}
    one, two = (
        {"": np.array([bytes(c, "ascii") * 9 for c in word], object)} for word in ("aab", "bca")
    )
    held, size = _held_once(one, known)
    assert size == one[""].nbytes + 18
    assert held[""][0] is held[""][1]
    more, size = _held_once(two, known)
    assert size == two[""].nbytes + 9
    assert more[""][0] is held[""][2] and more[""].tolist() == two[""].tolist()
