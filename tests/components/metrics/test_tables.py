"""Metrics that need a table of the whole corpus: distinct n-grams, macro-F1."""

import functools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairloom.components.metrics import corpus_score, get_metric

LABEL = st.sampled_from(["cat", "dog", "owl", "eel"])


@pytest.mark.parametrize(("metric_id", "order"), [("distinct_1", 1), ("distinct_2", 2)])
def test_distinct_is_the_share_of_different_ngrams_in_all_answers(metric_id, order):
    answers = ["i do not know", "i do not know", "i do", "yes", ""]
    runs = []
    for words in map(str.split, answers):
        runs += [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]
    expected = 100 * len(set(runs)) / len(runs)
    assert corpus_score(metric_id, answers, ["whatever"] * 5) == expected


def test_one_word_has_no_pairs():
    assert corpus_score("distinct_2", ["yes", "no"], ["", ""]) == 0


def test_macro_f1_by_hand():
    references = ["cat", "cat", "cat", "dog", "dog", "owl"]
    answers = ["cat", "cat", "dog", "dog", "eel", "cat"]
    # cat: P 2/3, R 2/3. dog: P 1/2, R 1/2. owl and eel: 0.
    expected = 100 * (2 / 3 + 1 / 2 + 0 + 0) / 4
    assert corpus_score("macro_f1", answers, references) == pytest.approx(expected)


@given(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=30))
@settings(deadline=None)
def test_macro_f1_is_scikit_learns(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    answers, references = zip(*pairs)
    expected = 100 * metrics.f1_score(references, answers, average="macro", zero_division=0)
    assert corpus_score("macro_f1", answers, references) == pytest.approx(expected)


def test_of_several_labels_the_answered_one_counts():
    metric = get_metric("macro_f1")
    assert metric.counts("dog", ["cat", "dog"]) == {("dog", "dog"): 1}
    assert metric.counts("eel", ["dog", "cat"]) == {("cat", "eel"): 1}


@pytest.mark.parametrize("metric_id", ["distinct_1", "distinct_2", "macro_f1"])
@pytest.mark.parametrize("workers", [1, 2, 5])
@given(pairs=st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=20), data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_score_does_not_depend_on_how_examples_are_split(metric_id, workers, pairs, data):
    metric = get_metric(metric_id)
    shares = [metric.zero() for _ in range(workers)]
    for answer, reference in pairs:
        worker = data.draw(st.integers(0, workers - 1))
        shares[worker] = metric.add(shares[worker], metric.counts(answer, [reference]))
    order = pickle.loads(pickle.dumps(data.draw(st.permutations(shares))))
    total = functools.reduce(metric.add, order, metric.zero())
    assert metric.score(total) == corpus_score(metric_id, *zip(*pairs))


def test_adding_leaves_the_counts_as_they_are():
    metric = get_metric("distinct_1")
    counts = metric.counts("a b a", ["x"])
    before = dict(counts)
    metric.add(metric.add(metric.zero(), counts), counts)
    assert counts == before
