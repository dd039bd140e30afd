import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops, tree

from pairloom.models import beam_search, greedy_search
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.hypotheses import length_factor

BEGIN, END = 2, 3
few = settings(max_examples=12, deadline=None)


def repeats(ids, size):
    grams = [tuple(ids[i : i + size]) for i in range(len(ids) - size + 1)]
    return len(set(grams)) < len(grams)


def score(logs, ids):
    return sum(logs[a, b] for a, b in zip([2, *ids], ids))


def random_table(seed, size, scale=2.0):
    return np.random.default_rng(seed).normal(0, scale, (size, size)).astype("float32")


@few
@given(seed=st.integers(0, 999), shortest=st.integers(0, 6))
def test_no_hypothesis_ends_too_early(search, markov, empty_memory, written, seed, shortest):
    table = random_table(seed, 7)
    table[:, END] += 2.0
    found = search(markov(table), empty_memory(2), max_length=6, min_length=shortest)
    for ids in itertools.chain(*written(found)):
        assert len(ids) >= shortest
        assert END not in ids[: shortest - 1]


@few
@given(seed=st.integers(0, 999), size=st.integers(1, 4))
def test_no_n_gram_comes_twice(search, markov, empty_memory, written, seed, size):
    table = random_table(seed, 6)
    table[:, END] -= 3.0
    found = search(markov(table), empty_memory(2), max_length=9, no_repeat_ngrams=size)
    for ids in itertools.chain(*written(found)):
        assert not repeats(ids, size)


@few
@given(
    seed=st.integers(0, 999),
    prefixes=st.lists(
        st.lists(st.sampled_from([1, 2, 4, 5, 6]), max_size=6), min_size=3, max_size=3
    ),
)
def test_every_hypothesis_begins_with_its_prefix(
    search, markov, empty_memory, written, seed, prefixes
):
    longest = 4
    time = max(len(p) for p in prefixes)
    padded = np.array([p + [0] * (time - len(p)) for p in prefixes]).reshape(3, time)
    table = random_table(seed, 7)
    found = search(markov(table), empty_memory(3), max_length=longest, prefix=padded)
    logs = np.array(ops.log_softmax(table, axis=-1))
    for row, hypotheses in enumerate(written(found)):
        begin = prefixes[row][:longest]
        for rank, ids in enumerate(hypotheses):
            score_given = found.scores[row, rank]
            if len(ids):
                assert ids[: len(begin)] == begin
                np.testing.assert_allclose(score_given, score(logs, ids), rtol=1e-4, atol=1e-4)
            else:  # A prefix that fills the whole length leaves one hypothesis.
                assert len(begin) == longest and rank > 0 and score_given == -np.inf


@pytest.mark.parametrize("length_penalty", [0.0, 0.8])
@pytest.mark.parametrize(
    "asked",
    [
        {"min_length": 3},
        {"no_repeat_ngrams": 1},
        {"no_repeat_ngrams": 2},
        {"prefix": [[4, 1]]},
        {"prefix": [[4]], "no_repeat_ngrams": 2, "min_length": 3},
    ],
)
def test_a_beam_as_wide_as_the_space_finds_the_best_of_what_is_allowed(
    cached, asked, length_penalty
):
    size, longest = 7, 4
    decoder = cached(size)
    memory = decoder.memory(batch=1)
    others = [i for i in range(size) if i not in (0, BEGIN, END)]

    def allowed(ids):
        begin = asked.get("prefix", [[]])[0]
        return (
            len(ids) >= asked.get("min_length", 0)
            and list(ids[: len(begin)]) == begin
            and not repeats(ids, asked.get("no_repeat_ngrams", 99))
        )

    ranked = []
    for ends in (True, False):  # What is cut off comes behind what ends.
        lengths = range(1, longest + 1) if ends else [longest]
        bodies = itertools.chain(*(itertools.product(others, repeat=n - ends) for n in lengths))
        of_kind = [(*body, END) if ends else body for body in bodies]
        scores = {
            ids: decoder.by_hand(ids, memory, 0)[0] / length_factor(len(ids), length_penalty)
            for ids in of_kind
            if allowed(ids)
        }
        ranked += sorted(scores.items(), key=lambda item: -item[1])
    nbest = min(40, len(ranked))
    found = beam_search(
        decoder,
        memory,
        beams=400,
        nbest=nbest,
        max_length=longest,
        length_penalty=length_penalty,
        **asked,
    )
    np.testing.assert_allclose(found.scores[0], [s for _, s in ranked[:nbest]], rtol=1e-4)
    for ids, length, (expected, _) in zip(
        np.array(found.ids[0]), np.array(found.lengths[0]), ranked
    ):
        assert tuple(ids[:length]) == expected


@few
@given(
    seed=st.integers(0, 999),
    asked=st.fixed_dictionaries(
        {"min_length": st.integers(0, 5), "no_repeat_ngrams": st.integers(0, 3)}
    ),
    first=st.sampled_from([0, 1, 4]),
)
def test_one_beam_is_greedy_under_every_constraint(
    markov, empty_memory, written, seed, asked, first
):
    decoder, memory = markov(random_table(seed, 7)), empty_memory(2)
    asked = {**asked, "prefix": [[first], [0]], "max_length": 7}
    one, greedy = (
        beam_search(decoder, memory, beams=1, **asked),
        greedy_search(decoder, memory, **asked),
    )
    assert written(one) == written(greedy)
    np.testing.assert_allclose(one.scores, greedy.scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("asked", [{}, {"min_length": 12}])
def test_the_end_is_possible_where_nothing_else_is(search, markov, empty_memory, written, asked):
    # Four ids that go on, none twice: the fifth step can do nothing but end.
    table = random_table(2, 7, 0.5)
    table[:, END] = -20.0
    found = search(markov(table), empty_memory(2), max_length=12, no_repeat_ngrams=1, **asked)
    for ids in itertools.chain(*written(found)):
        assert len(ids) == 5 and ids[-1] == END and len(set(ids)) == 5


def test_a_prefix_comes_before_the_other_constraints(search, markov, empty_memory, written):
    found = search(
        markov(random_table(3, 7)),
        empty_memory(2),
        max_length=6,
        min_length=5,
        no_repeat_ngrams=1,
        prefix=[[4, 4, 4], [5, END, 6]],
    )
    repeated, ended = written(found)
    assert all(ids[:3] == [4, 4, 4] and not repeats(ids[2:], 1) for ids in repeated)
    assert all(ids in ([5, END], []) for ids in ended) and ended[0]


@pytest.mark.parametrize("longest", [1, 5])
def test_an_unlikely_prefix_keeps_its_log_probability(search, markov, empty_memory, longest):
    # So unlikely that the probability itself is 0 in float32.
    table = random_table(4, 6)
    table[2, 5] = -200.0
    found = search(markov(table), empty_memory(1), max_length=longest, prefix=[[5]])
    logs = table.astype("float64") - np.logaddexp.reduce(table.astype("float64"), -1)[:, None]
    ids = np.array(found.ids[0, 0])[: int(found.lengths[0, 0])]
    assert ids[0] == 5
    np.testing.assert_allclose(found.scores[0, 0], score(logs, ids), rtol=1e-5)


def test_the_batch_a_sentence_is_in_changes_nothing_under_constraints(search, cached, written):
    decoder = cached()
    memory = decoder.memory(batch=4)
    prefix = np.array([[4, 5], [0, 0], [6, 0], [1, 4]])
    asked = {"max_length": 8, "min_length": 3, "no_repeat_ngrams": 2}
    together = written(search(decoder, memory, prefix=prefix, **asked))
    # A sample's chance comes from its row too, so only rows behind it are left out.
    for rows in range(1, 4):
        some = tree.map_structure(lambda x, rows=rows: x[:rows], memory)
        assert written(search(decoder, some, prefix=prefix[:rows], **asked)) == together[:rows]


@few
@given(data=st.data(), size=st.integers(1, 4), time=st.integers(0, 7))
def test_exactly_the_ids_that_would_repeat_are_barred(data, size, time):
    ids = st.lists(st.integers(4, 6), min_size=time, max_size=time)
    seen = [[data.draw(ids) for _ in range(2)] for _ in range(2)]
    constraints = Constraints(end_id=END, no_repeat_ngrams=size)
    kept = constraints.begin(2, 2)
    for t in range(time):
        kept = constraints.extend(kept, ops.convert_to_tensor(np.array(seen, "int32")[:, :, t]))
    found = constraints.bar(ops.zeros((2, 2, 8)), time, ops.arange(2, dtype="int32"), kept)
    for row, beam in itertools.product(range(2), range(2)):
        before = seen[row][beam]
        grams = {tuple(before[i : i + size]) for i in range(time - size + 1)}
        last = tuple(before[time - size + 1 :]) if time >= size - 1 else None
        expected = [i in (0, BEGIN) or (last is not None and (*last, i) in grams) for i in range(8)]
        np.testing.assert_array_equal(np.isneginf(found[row, beam]), expected)


def test_what_is_not_asked_for_adds_nothing():
    nothing = Constraints(end_id=END)
    assert nothing.begin(2, 3) == nothing.extend((), ops.zeros((2, 3))) == ()
    found = np.array(nothing.bar(ops.zeros((2, 3, 8)), 0, ops.arange(2, dtype="int32"), ()))
    np.testing.assert_array_equal(found, np.tile([-np.inf, 0, -np.inf, *[0] * 5], (2, 3, 1)))


@few
@given(seed=st.integers(0, 999), favour=st.sampled_from([2.0, 200.0]))
def test_padding_and_begin_are_never_written_and_scores_stay_the_decoder_s(
    search, markov, empty_memory, written, seed, favour
):
    # The decoder would write them at every step, with 200 so surely that all else is 0 in float32.
    table = random_table(seed, 7)
    table[:, [0, 5]] += favour
    found = search(markov(table), empty_memory(2), max_length=6, begin_id=5)
    table = table.astype("float64")
    logs = table - np.logaddexp.reduce(table, -1)[:, None]
    for row, hypotheses in enumerate(written(found)):
        for rank, ids in enumerate(hypotheses):
            assert ids and not {0, 5} & set(ids)
            total = sum(logs[a, b] for a, b in zip([5, *ids], ids))
            np.testing.assert_allclose(found.scores[row, rank], total, rtol=1e-4)


@pytest.mark.parametrize("both", [0, 3])
def test_what_ends_is_possible_even_if_it_begins_or_pads_too(search, markov, empty_memory, both):
    table = random_table(1, 6)
    table[:, both] += 9.0
    found = search(markov(table), empty_memory(2), max_length=4, begin_id=both, end_id=both)
    np.testing.assert_array_equal(found.ids[:, 0, 0], both)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"min_length": -1}, "`min_length` must not be negative.*min_length=-1"),
        ({"no_repeat_ngrams": -2}, "`no_repeat_ngrams` must not be negative.*no_repeat_ngrams=-2"),
        (
            {"min_length": 9, "max_length": 8},
            "`min_length` must be at most `max_length`.*min_length=9, max_length=8",
        ),
        ({"prefix": [4, 5]}, r"`prefix` must be `\(batch, prefix_time\)`.*shape=\(2,\)"),
    ],
)
def test_impossible_constraints_say_so(search, markov, empty_memory, asked, message):
    with pytest.raises(ValueError, match=message):
        search(markov(random_table(0, 6)), empty_memory(1), **asked)
