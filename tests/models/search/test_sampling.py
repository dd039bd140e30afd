import numpy as np
import pytest
from keras import ops, tree

from pairloom.models import greedy_search, sample

# 99.9 % of the chi-square distribution, by degrees of freedom.
CRITICAL = {6: 22.46, 9: 27.88, 15: 37.70}
LOGITS = np.array([0.5, -1.0, 1.5, 0.0, 2.0, -0.5, 1.0], "float32")
DRAWS = 4000


def softmax(logits):
    chances = np.exp(logits - logits.max())
    return chances / chances.sum()


def chi_square(seen, chances):
    expected = chances * seen.sum()
    return (((seen - expected) ** 2) / expected).sum()


@pytest.fixture(scope="module")
def draw(markov, empty_memory):
    """The ids of samples whose every step has the same logits; `(batch, count, time)`.

    Counted from 0 behind padding and begin, which the decoder would like best and which are never
    drawn.
    """

    def run(logits=LOGITS, batch=1, **settings):
        logits = np.concatenate([np.full(2, 3.0, "float32"), logits])
        decoder = markov(np.tile(logits, (len(logits), 1)))
        settings = {"max_length": 1, "begin_id": 1, "end_id": 99, "seed": 1, **settings}
        return np.array(sample(decoder, empty_memory(batch), **settings).ids) - 2

    return run


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(
    "many", [{"count": DRAWS}, {"batch": DRAWS}, {"batch": DRAWS, "seed": range(DRAWS)}]
)
def test_ids_are_as_frequent_as_the_softmax_says(draw, temperature, many):
    ids = draw(temperature=temperature, **many)
    seen = np.bincount(ids.ravel(), minlength=7)
    assert chi_square(seen, softmax(LOGITS / temperature)) < CRITICAL[6]


def test_one_step_says_nothing_about_the_next_nor_one_sample_about_another(draw):
    logits = LOGITS[[0, 2, 3, 6]]
    both = np.outer(softmax(logits), softmax(logits)).ravel()
    steps = draw(logits, count=DRAWS, max_length=2)[0]
    assert chi_square(np.bincount(steps @ [4, 1], minlength=16), both) < CRITICAL[15]
    pairs = draw(logits, batch=DRAWS, count=2)[..., 0]
    assert chi_square(np.bincount(pairs @ [4, 1], minlength=16), both) < CRITICAL[15]


@pytest.mark.parametrize("top_k", [1, 3, 7, 50])
def test_only_the_top_k_are_drawn_and_in_proportion(draw, top_k):
    best = np.argsort(-LOGITS)[:top_k]
    seen = np.bincount(draw(top_k=top_k, count=DRAWS).ravel(), minlength=7)
    assert set(np.flatnonzero(seen)) == set(best)
    assert chi_square(seen[best], softmax(LOGITS[best])) < CRITICAL[6]


@pytest.mark.parametrize("temperature", [0.7, 1.0])
@pytest.mark.parametrize("top_p", [0.01, 0.5, 0.8, 0.97])
def test_only_the_fewest_that_reach_top_p_are_drawn(draw, top_p, temperature):
    chances = softmax(LOGITS / temperature)
    order = np.argsort(-LOGITS)
    fewest = next(n for n in range(1, 8) if chances[order[:n]].sum() >= top_p)
    best = order[:fewest]
    seen = np.bincount(draw(top_p=top_p, temperature=temperature, count=DRAWS).ravel(), minlength=7)
    assert set(np.flatnonzero(seen)) == set(best)
    assert chi_square(seen[best], softmax(LOGITS[best] / temperature)) < CRITICAL[6]


def test_top_p_is_a_share_of_the_top_k(draw):
    # Of the three likeliest, the first two have 0.7 of 1; of all ids they have less.
    best = np.argsort(-LOGITS)[:3]
    shares = softmax(LOGITS[best])
    top_p = float(shares[0] + 0.9 * shares[1])
    assert softmax(LOGITS)[best[:2]].sum() < top_p
    assert set(draw(top_k=3, top_p=top_p, count=500).ravel()) == set(best[:2])


def test_equal_logits_never_make_the_top_k_more(draw):
    assert set(draw(np.zeros(6, "float32"), top_k=2, count=200).ravel()) == {0, 1}


@pytest.mark.parametrize("narrow", [{"temperature": 1e-5}, {"top_k": 1}, {"top_p": 1e-6}])
def test_without_choice_it_is_greedy(cached, written, narrow):
    decoder = cached()
    memory = decoder.memory(batch=6)
    greedy = greedy_search(decoder, memory, max_length=8, with_weights=True)
    found = sample(decoder, memory, seed=3, count=2, max_length=8, with_weights=True, **narrow)
    for rank in range(2):
        np.testing.assert_array_equal(found.ids[:, rank], greedy.ids[:, 0])
        np.testing.assert_allclose(found.scores[:, rank], greedy.scores[:, 0], rtol=1e-4)
        np.testing.assert_allclose(found.weights[:, rank], greedy.weights[:, 0], atol=1e-5)


def test_the_same_seed_gives_the_same_and_another_does_not(cached, written):
    decoder = cached()
    memory = decoder.memory(batch=4)
    first, again, other = (
        written(sample(decoder, memory, seed=seed, count=3, max_length=10)) for seed in (5, 5, 6)
    )
    assert first == again != other


def test_a_sentence_with_its_own_seed_is_drawn_alike_in_any_batch(cached, written):
    decoder = cached()
    memory = decoder.memory(batch=5)
    seeds = np.array([11, 2**40, 7, 11, -3])
    settings = {"count": 3, "max_length": 12, "top_p": 0.95}
    together = written(sample(decoder, memory, seed=seeds, **settings))
    order = np.array([3, 1, 4])
    some = tree.map_structure(lambda x: ops.take(x, order, axis=0), memory)
    assert written(sample(decoder, some, seed=seeds[order], **settings)) == [
        together[row] for row in order
    ]
    for row, seed in enumerate(seeds.tolist()):
        alone = tree.map_structure(lambda x, row=row: x[row : row + 1], memory)
        assert written(sample(decoder, alone, seed=seed, **settings)) == [together[row]]


def test_neither_count_nor_max_length_changes_what_is_drawn(cached, written):
    decoder = cached()
    memory = decoder.memory(batch=3)
    many = written(sample(decoder, memory, seed=2, count=5, max_length=14))
    for count, longest in [(1, 14), (3, 14), (5, 4)]:
        fewer = written(sample(decoder, memory, seed=2, count=count, max_length=longest))
        assert fewer == [[ids[:longest] for ids in row[:count]] for row in many]


def test_the_same_sentence_in_two_rows_is_drawn_twice(cached, written):
    decoder = cached()
    memory = tree.map_structure(lambda x: ops.repeat(x, 8, axis=0), decoder.memory(batch=1))
    found = written(sample(decoder, memory, seed=2, max_length=10))
    assert len({tuple(row[0]) for row in found}) > 4


def test_an_empty_batch_gives_an_empty_answer(cached):
    decoder = cached()
    assert sample(decoder, decoder.memory(batch=0), seed=1, count=2).ids.shape[:2] == (0, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0.0}, "`temperature` must be above 0.*temperature=0.0"),
        ({"temperature": float("nan")}, "`temperature` must be above 0.*temperature=nan"),
        ({"top_k": -1}, "`top_k` must not be negative.*top_k=-1"),
        ({"top_p": 0.0}, "`top_p` must be above 0 and at most 1.*top_p=0.0"),
        ({"top_p": 1.1}, "`top_p` must be above 0 and at most 1.*top_p=1.1"),
        ({"count": 0}, "`count` must be at least 1.*count=0"),
        ({"seed": [[1, 2]]}, r"`seed` must be a number or `\(batch,\)`.*shape=\(1, 2\)"),
    ],
)
def test_impossible_settings_say_so(cached, settings, message):
    decoder = cached()
    with pytest.raises(ValueError, match=message):
        sample(decoder, decoder.memory(batch=1), **{"seed": 1, **settings})
