"""Ours is sacreBLEU's number, however a corpus is split."""

import numpy as np
import pytest
import sacrebleu.metrics
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairloom.components.metrics import corpus_score, get_metric

REFERENCE_METRICS = {
    "bleu": sacrebleu.metrics.BLEU,
    "chrf": sacrebleu.metrics.CHRF,
    "ter": sacrebleu.metrics.TER,
}
IDS = list(REFERENCE_METRICS)
# Punctuation, scripts without spaces, right to left, combining and astral characters, white space.
LATIN = ["the", "cat's", ",", "sat", "on.", "Über-alles", "3.5%"]
OTHERS = ["我们喜欢猫", "слон", "فيل", "हाथी", "é\u0301", "🐘", "\u00a0", "\t"]
SENTENCE = st.lists(st.sampled_from(LATIN + OTHERS), max_size=12).map(" ".join)
CORPUS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=15)


def sacrebleu_score(metric_id, pairs):
    hypotheses, references = zip(*pairs)
    score = REFERENCE_METRICS[metric_id]().corpus_score(list(hypotheses), [list(references)])
    return score.score


@pytest.mark.parametrize("metric_id", IDS)
@pytest.mark.parametrize("workers", [1, 2, 5])
@given(pairs=CORPUS, data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_score_does_not_depend_on_how_sentences_are_split(metric_id, workers, pairs, data):
    metric = get_metric(metric_id)
    shares = [metric.zero() for _ in range(workers)]
    for pair in pairs:
        shares[data.draw(st.integers(0, workers - 1))] += metric.counts(*pair)
    order = data.draw(st.permutations(shares))
    assert metric.score(np.sum(order, axis=0)) == pytest.approx(
        sacrebleu_score(metric_id, pairs), abs=1e-6
    )


@pytest.mark.parametrize("metric_id", IDS)
@given(pairs=CORPUS)
@example(pairs=[("", "")])
@example(pairs=[("", "a b c d")])
@example(pairs=[("a b c d", "")])
@example(pairs=[("我们喜欢猫", "我们喜欢大猫")])
@example(pairs=[("one", "one")])
@settings(max_examples=50, deadline=None)
def test_corpus_score_is_sacrebleus(metric_id, pairs):
    hypotheses, references = zip(*pairs)
    ours = corpus_score(metric_id, hypotheses, references)
    assert ours == pytest.approx(sacrebleu_score(metric_id, pairs), abs=1e-6)


@pytest.mark.parametrize("metric_id", IDS)
def test_counts_fill_the_stated_size_with_whole_numbers(metric_id):
    metric = get_metric(metric_id)
    counts = metric.counts("the cat sat", "the cat sat on the mat")
    assert counts.shape == metric.zero().shape == (metric.size,)
    assert counts.dtype == metric.zero().dtype == np.int64


@pytest.mark.parametrize("metric_id", IDS)
def test_the_signature_is_the_one_sacrebleu_prints(metric_id):
    reference = REFERENCE_METRICS[metric_id]()
    reference.corpus_score(["a"], [["a"]])
    assert get_metric(metric_id).signature() == str(reference.get_signature())
    assert "nrefs:1" in get_metric(metric_id).signature()


def test_scoring_does_not_change_the_counts():
    for metric_id in IDS:
        metric = get_metric(metric_id)
        counts = metric.counts("a b c", "a b d")
        before = counts.copy()
        metric.score(counts)
        np.testing.assert_array_equal(counts, before)
