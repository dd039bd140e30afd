"""Ours is sacreBLEU's number, however a corpus is split and however many references there are."""

import functools

import numpy as np
import pytest
import sacrebleu.metrics
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairloom.components.metrics import corpus_score, get_metric, missing_package

REFERENCE_METRICS = {
    "bleu": sacrebleu.metrics.BLEU,
    "bleu_1": functools.partial(sacrebleu.metrics.BLEU, max_ngram_order=1),
    "bleu_2": functools.partial(sacrebleu.metrics.BLEU, max_ngram_order=2),
    "bleu_3": functools.partial(sacrebleu.metrics.BLEU, max_ngram_order=3),
    **{
        f"bleu_{name.replace('-', '_')}": functools.partial(sacrebleu.metrics.BLEU, tokenize=name)
        for name in ("char", "zh", "ja-mecab", "intl", "none")
        if not missing_package(f"bleu_{name.replace('-', '_')}")
    },
    "chrf": sacrebleu.metrics.CHRF,
    "ter": sacrebleu.metrics.TER,
}
IDS = list(REFERENCE_METRICS)
# Punctuation, scripts without spaces, right to left, combining and astral characters, white space.
LATIN = ["the", "cat's", ",", "sat", "on.", "Über-alles", "3.5%"]
OTHERS = ["我们喜欢猫", "слон", "فيل", "हाथी", "é\u0301", "🐘", "\u00a0", "\t"]
SENTENCE = st.lists(st.sampled_from(LATIN + OTHERS), max_size=12).map(" ".join)


def corpora(references: int) -> st.SearchStrategy:
    """Answers, each with so many references."""
    several = st.lists(SENTENCE, min_size=references, max_size=references)
    return st.lists(st.tuples(SENTENCE, several), min_size=1, max_size=10)


CORPUS = st.one_of(corpora(1), corpora(5))


def sacrebleu_score(metric_id, pairs):
    answers, references = zip(*pairs)
    streams = [list(stream) for stream in zip(*references)]
    return REFERENCE_METRICS[metric_id]().corpus_score(list(answers), streams).score


@pytest.mark.parametrize("metric_id", IDS)
@pytest.mark.parametrize("workers", [1, 2, 5])
@given(pairs=CORPUS, data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_score_does_not_depend_on_how_sentences_are_split(metric_id, workers, pairs, data):
    metric = get_metric(metric_id)
    shares = [metric.zero() for _ in range(workers)]
    for pair in pairs:
        worker = data.draw(st.integers(0, workers - 1))
        shares[worker] = metric.add(shares[worker], metric.counts(*pair))
    order = data.draw(st.permutations(shares))
    assert metric.score(functools.reduce(metric.add, order)) == pytest.approx(
        sacrebleu_score(metric_id, pairs), abs=1e-6
    )


@pytest.mark.parametrize("metric_id", IDS)
@given(pairs=CORPUS)
@example(pairs=[("", [""])])
@example(pairs=[("", ["a b c d"])])
@example(pairs=[("a b c d", [""])])
@example(pairs=[("我们喜欢猫", ["我们喜欢大猫"])])
@example(pairs=[("one", ["one"])])
@example(pairs=[("the cat", ["a cat", "the", "the cat sat", "on", ""])])
@settings(max_examples=40, deadline=None)
def test_corpus_score_is_sacrebleus(metric_id, pairs):
    ours = corpus_score(metric_id, *zip(*pairs))
    assert ours == pytest.approx(sacrebleu_score(metric_id, pairs), abs=1e-6)


@pytest.mark.parametrize("metric_id", IDS)
def test_the_number_of_references_may_vary(metric_id):
    answers = ["the cat sat on the mat", "a dog ran home"]
    # sacreBLEU wants rectangles, with None where a reference is missing.
    streams = [["the cat sat on a mat", "the dog ran home"], ["a cat sat there", None]]
    expected = REFERENCE_METRICS[metric_id]().corpus_score(answers, streams).score
    references = [["the cat sat on a mat", "a cat sat there"], "the dog ran home"]
    assert corpus_score(metric_id, answers, references) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("metric_id", IDS)
def test_counts_fill_the_stated_size_with_numbers_of_one_type(metric_id):
    metric = get_metric(metric_id)
    counts = metric.counts("the cat sat", ["the cat sat on the mat", "cats sat"])
    assert counts.shape == metric.zero().shape == (metric.size,)
    # TER takes the mean length of the references.
    assert counts.dtype == metric.zero().dtype == (np.float64 if metric_id == "ter" else np.int64)


@pytest.mark.parametrize("metric_id", IDS)
def test_the_signature_is_the_one_sacrebleu_prints(metric_id):
    order = {"bleu_1": "|order:1", "bleu_2": "|order:2", "bleu_3": "|order:3"}.get(metric_id, "")
    for count in (1, 5):
        reference = REFERENCE_METRICS[metric_id]()
        reference.corpus_score(["a"], [["a"]] * count)
        expected = str(reference.get_signature()) + order
        assert get_metric(metric_id).signature(count) == expected
        assert f"nrefs:{count}" in expected
    get_metric(metric_id).counts("a", ["a", "b"])
    assert "nrefs:1|" in get_metric(metric_id).signature()
    assert "nrefs:var|" in get_metric(metric_id).signature(-1)


def test_near_right_sentences_without_spaces_are_near_right():
    answer, reference = ["我非常喜欢这只小猫。"], ["我非常喜欢这只大猫。"]
    assert corpus_score("bleu", answer, reference) == 0
    assert corpus_score("bleu_zh", answer, reference) > 50
    assert corpus_score("bleu_char", answer, reference) > 50


def test_scoring_does_not_change_the_counts():
    for metric_id in IDS:
        metric = get_metric(metric_id)
        counts = metric.counts("a b c", ["a b d"])
        before = counts.copy()
        metric.score(counts)
        np.testing.assert_array_equal(counts, before)
