import itertools

import numpy as np
import pytest
from keras import ops

from pairloom.models import (
    EncoderDecoder,
    Memory,
    RecurrentDecoder,
    TransformerDecoder,
    beam_search,
    greedy_search,
)
from pairloom.models.search.hypotheses import length_factor

END = 3
SOURCE = np.array([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0], [5, 5, 5, 0, 0], [8, 0, 0, 0, 0]])


def make_model(seed=1, size=10, **decoder):
    """A model sharp enough that rounding decides nothing."""
    sizes = {"vocabulary_size": size, "units": 8, "embedding_units": 8}
    model = EncoderDecoder(
        {"source": {"type": "tokens", **sizes}},
        {"type": "recurrent", **sizes, **decoder},
    )
    model.build({"source": (None, None)}, (None, None))
    random = np.random.default_rng(seed)
    model.set_weights([random.normal(0, 0.8, w.shape) for w in model.get_weights()])
    return model


def beam(model, source=SOURCE, **settings):
    return beam_search(model.decoder, model.encoder(source), **{"max_length": 8, **settings})


def log_probability(model, source, ids):
    """Of one sequence, by teacher forcing."""
    logits, _ = model({"source": source[None]}, np.array([[2, *ids[:-1]]]))
    logs = np.array(ops.log_softmax(logits, axis=-1)[0])
    return sum(logs[t, i] for t, i in enumerate(ids))


@pytest.mark.parametrize("seed", range(4))
def test_one_beam_is_greedy(seed):
    model = make_model(seed)
    greedy = greedy_search(model.decoder, model.encoder(SOURCE), max_length=8, with_weights=True)
    one = beam(model, beams=1, with_weights=True)
    np.testing.assert_array_equal(one.ids, greedy.ids)
    np.testing.assert_array_equal(one.lengths, greedy.lengths)
    np.testing.assert_allclose(one.scores, greedy.scores, atol=1e-4)
    np.testing.assert_allclose(one.weights, greedy.weights, atol=1e-5)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("nbest", [1, 3])
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all(
    markov, empty_memory, length_penalty, nbest
):
    random = np.random.default_rng(5)
    table = random.normal(0, 1.5, (6, 6)).astype("float32")
    table[:, 1] = -1e9  # The unknown; padding and begin are never written.
    longest = 4
    found = beam_search(
        markov(table),
        empty_memory(1),
        beams=200,
        nbest=nbest,
        max_length=longest,
        length_penalty=length_penalty,
        growth=np.inf,
    )
    logs = np.array(ops.log_softmax(table, axis=-1))
    finished = []
    for length in range(1, longest + 1):
        for body in itertools.product([4, 5], repeat=length - 1):
            ids = (*body, END)
            total = sum(logs[a, b] for a, b in zip((2, *ids), ids))
            finished.append((total / float(length_factor(length, length_penalty)), ids))
    finished.sort(reverse=True)
    for rank in range(nbest):
        score, ids = finished[rank]
        assert tuple(np.array(found.ids[0, rank])[: len(ids)]) == ids
        np.testing.assert_allclose(found.scores[0, rank], score, rtol=1e-4)


@pytest.mark.parametrize("settings", [{}, {"length_penalty": 0.7, "coverage_penalty": 0.2}])
def test_the_batch_a_sentence_is_in_never_changes_its_output(settings):
    model = make_model()
    together = beam(model, beams=4, nbest=3, with_weights=True, **settings)
    for row, length in enumerate([5, 2, 3, 1]):
        alone = beam(
            model, SOURCE[row : row + 1, :length], beams=4, nbest=3, with_weights=True, **settings
        )
        time = alone.ids.shape[-1]
        np.testing.assert_array_equal(alone.ids[0], together.ids[row, :, :time])
        np.testing.assert_array_equal(together.ids[row, :, time:], 0)
        np.testing.assert_allclose(alone.scores[0], together.scores[row], atol=1e-4)
        np.testing.assert_allclose(
            alone.weights[0], together.weights[row, :, :time, :length], atol=1e-5
        )


@pytest.mark.parametrize("style", ["luong", "bahdanau"])
def test_scores_and_weights_are_those_of_teacher_forcing(style):
    model = make_model(style=style)
    found = beam(model, beams=4, nbest=4, with_weights=True)
    for row, rank in itertools.product(range(4), range(4)):
        length = int(found.lengths[row, rank])
        ids = np.array(found.ids[row, rank, :length])
        expected = log_probability(model, SOURCE[row], ids)
        np.testing.assert_allclose(found.scores[row, rank], expected, rtol=1e-3, atol=1e-3)
        _, weights = model({"source": SOURCE[row][None]}, np.array([[2, *ids[:-1]]]))
        np.testing.assert_allclose(found.weights[row, rank, :length], weights[0], atol=1e-4)
        np.testing.assert_array_equal(found.weights[row, rank, length:], 0)


@pytest.mark.parametrize("seed", range(4))
def test_hypotheses_come_best_first_and_differ(seed):
    found = beam(make_model(seed), beams=5, nbest=5, max_length=60)
    scores = np.array(found.scores)
    assert (np.diff(scores, axis=1) <= 1e-6).all()
    for row in np.array(found.ids):
        assert len({tuple(ids) for ids in row}) == 5


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_finds_no_less_than_greedy_here(seed):
    model = make_model(seed)
    greedy = greedy_search(model.decoder, model.encoder(SOURCE), max_length=8)
    finished = np.array([END in ids for ids in np.array(greedy.ids[:, 0])])
    better = beam(model, beams=8).scores[:, 0] >= greedy.scores[:, 0] - 1e-4
    assert np.array(better)[finished].all()


@pytest.mark.parametrize(("growth", "best"), [(1.25, [END]), (np.inf, [4, 5, 6, 7, 8, 9, END])])
def test_a_search_looks_ahead_as_far_as_it_is_told(markov, empty_memory, growth, best):
    # After the first id all is certain, and the penalty forgives the rarer one when it is long.
    table = np.full((10, 10), -np.inf, "float32")
    table[2, [4, END]] = np.log([0.4, 0.6])
    table[range(4, 10), [5, 6, 7, 8, 9, END]] = 0.0
    settings = {"beams": 2, "max_length": 10, "length_penalty": 1.0, "growth": growth}
    found = beam_search(markov(table), empty_memory(1), **settings)
    # It has as many steps as it needs, and no more.
    np.testing.assert_array_equal(found.ids[0], [best])


def test_the_length_limit_cuts_off(markov, empty_memory):
    table = np.full((6, 6), 0.0, "float32")
    table[:, 4] = 5.0
    table[:, END] = -1e9
    for found in (
        beam_search(markov(table), empty_memory(2), beams=2, max_length=3),
        greedy_search(markov(table), empty_memory(2), max_length=3),
    ):
        np.testing.assert_array_equal(found.ids[:, 0], [[4, 4, 4]] * 2)
        np.testing.assert_array_equal(found.lengths[:, 0], [3, 3])


def test_a_finished_hypothesis_ranks_before_a_likelier_one_that_was_cut_off(markov, empty_memory):
    table = np.full((6, 6), -1e9, "float32")
    table[:, 4] = 3.0
    table[:, END] = 0.0
    found = beam_search(markov(table), empty_memory(1), beams=2, nbest=2, max_length=1)
    np.testing.assert_array_equal(found.ids[0], [[END], [4]])
    likelier = -np.log1p(np.exp(-3.0))
    np.testing.assert_allclose(found.scores[0], [likelier - 3.0, likelier], rtol=1e-5)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 5.0])
def test_a_coverage_penalty_prefers_hypotheses_that_look_everywhere(markov, penalty):
    table = np.full((6, 6), -1e9, "float32")
    table[2, [4, 5]] = 2.0, 1.0
    table[[4, 5], END] = 0.0
    looks = np.zeros((6, 3), "float32")
    looks[[2, 4]] = 0.9, 0.1, 0.0
    looks[5] = 0.1, 0.9, 0.0
    # Nobody looks at the last position, which is padding: it must not count as uncovered.
    memory = Memory(
        ops.zeros((1, 3, 1)), ops.convert_to_tensor([[True, True, False]]), ops.zeros((1, 1))
    )
    found = beam_search(
        markov(table, looks), memory, beams=2, nbest=2, max_length=3, coverage_penalty=penalty
    )
    likelier = -np.log1p(np.exp(-1.0))
    expected = {4: likelier + penalty * np.log(0.1 + 0.1), 5: likelier - 1.0}
    order = sorted(expected, key=expected.get, reverse=True)
    assert order == ([5, 4] if penalty == 5.0 else [4, 5])
    np.testing.assert_array_equal(found.ids[0], [[first, END] for first in order])
    np.testing.assert_allclose(found.scores[0], [expected[i] for i in order], rtol=1e-5)


@pytest.mark.parametrize("size", [4, 5, 7])
@pytest.mark.parametrize("longest", [1, 2])
def test_a_vocabulary_smaller_than_the_beam_gives_all_there_is_and_no_more(
    markov, empty_memory, size, longest
):
    table = np.random.default_rng(size).normal(0, 1, (size, size)).astype("float32")
    found = beam_search(
        markov(table), empty_memory(2), beams=60, nbest=60, max_length=longest, with_weights=True
    )
    others = [i for i in range(size) if i not in (0, 2, END)]
    possible = {(END,)} | {(i, END) for i in others if longest == 2}
    possible |= set(itertools.product(others, repeat=longest))
    for row in range(2):
        lengths = np.array(found.lengths[row])
        real = lengths > 0
        ids = [tuple(x[:n]) for x, n in zip(np.array(found.ids[row])[real], lengths[real])]
        assert len(ids) == len(possible) and set(ids) == possible
        assert not real[len(possible) :].any()
        np.testing.assert_array_equal(found.scores[row][~real], -np.inf)
        np.testing.assert_array_equal(found.ids[row][~real], 0)
        np.testing.assert_array_equal(found.weights[row][~real], 0)


def test_a_beam_that_holds_no_hypothesis_never_counts_as_finished(markov, empty_memory):
    # Only one id goes on, so that of many beams all but one or two are empty at any time.
    table = np.full((5, 5), -np.inf, "float32")
    table[:, 4], table[:, END] = 2.0, 0.0
    found = beam_search(markov(table), empty_memory(1), beams=6, nbest=6, max_length=9)
    chance = np.log([1 / (1 + np.exp(-2.0)), 1 / (1 + np.exp(2.0))])
    np.testing.assert_array_equal(found.lengths[0], range(1, 7))
    np.testing.assert_allclose(
        found.scores[0], [chance[0] * n + chance[1] for n in range(6)], rtol=1e-5
    )


def test_an_empty_batch_gives_an_empty_answer():
    model = make_model()
    assert beam(model, SOURCE[:0], beams=3, nbest=2).ids.shape[:2] == (0, 2)
    assert greedy_search(model.decoder, model.encoder(SOURCE[:0])).ids.shape[:2] == (0, 1)


@pytest.mark.needs_tensorflow
def test_search_runs_in_a_graph_of_unknown_shapes():
    import tensorflow as tf

    model = make_model()

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def run(source):
        return beam_search(model.decoder, model.encoder(source), beams=3, max_length=8).ids

    np.testing.assert_array_equal(run(SOURCE), beam(model, beams=3).ids)


NEW_DECODERS = {
    "recurrent": lambda: RecurrentDecoder(10, 8),
    "transformer": lambda: TransformerDecoder(10, 8, layers=2, heads=2, feed_forward=8),
}


@pytest.mark.parametrize("make_decoder", NEW_DECODERS.values(), ids=NEW_DECODERS)
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_decoder_that_was_never_called_searches_a_memory_of_arrays(
    search, make_decoder, masked, dtype
):
    random = np.random.default_rng(1)
    mask = np.array([[1, 1, 1], [1, 0, 0]], bool) if masked else None
    memory = Memory(random.normal(size=(2, 3, 5)), mask, random.normal(size=(2, 4)))
    memory = memory._replace(
        states=memory.states.astype(dtype), summary=memory.summary.astype(dtype)
    )
    decoder = make_decoder()
    found = search(decoder, memory, max_length=6)
    # The scores are those of the ids by teacher forcing: log probabilities, nothing added.
    for rank in range(found.ids.shape[1]):
        ids = np.array(found.ids[:, rank])
        fed = np.concatenate([np.full((2, 1), 2), ids[:, :-1]], 1)
        logs = np.array(ops.log_softmax(decoder(fed, memory)[0], axis=-1))
        for row, length in enumerate(np.array(found.lengths[:, rank])):
            total = sum(logs[row, t, ids[row, t]] for t in range(length))
            np.testing.assert_allclose(found.scores[row, rank], total, rtol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beams": 2, "nbest": 3}, "`nbest` must be between 1 and `beams`.*nbest=3, beams=2"),
        ({"length_penalty": -1.0}, "`length_penalty` must not be negative"),
        ({"growth": 0.5}, "`growth` must be at least 1. Received: growth=0.5"),
    ],
)
def test_impossible_settings_say_so(settings, message):
    with pytest.raises(ValueError, match=message):
        beam(make_model(), **settings)


def test_weights_that_a_decoder_does_not_give_are_asked_for_in_vain(markov, empty_memory, search):
    class Blind(markov):
        def step(self, ids, state, memory):
            logits, state, _ = super().step(ids, state, memory)
            return logits, state, None

    decoder = Blind(np.eye(5))
    assert search(decoder, empty_memory(2), max_length=3).weights is None
    with pytest.raises(ValueError, match="`step` gives none. Received: weights=None"):
        search(decoder, empty_memory(2), max_length=3, with_weights=True)
