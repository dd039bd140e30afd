import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairloom.components.metrics import corpus_score, get_metric

IDS = ["token_error_rate", "sequence_error_rate", "exact_match"]
SENTENCE = st.lists(st.sampled_from(["K", "AE", "T", "水"]), max_size=6).map(" ".join)


def test_token_error_rate_is_edits_per_reference_token():
    answers = ["K AE T", "D AO", "", "S T AO P IH NG"]
    references = ["K AE T", "D AO G", "AH", "S T AA P"]
    edits, tokens = 0 + 1 + 1 + 3, 3 + 3 + 1 + 4
    assert corpus_score("token_error_rate", answers, references) == 100 * edits / tokens


def test_token_error_rate_weighs_by_length_not_by_sentence():
    rate = corpus_score("token_error_rate", ["a", "x"], ["a b c d e f g h i", "y"])
    assert rate == 100 * (8 + 1) / 10


def test_more_edits_than_tokens_are_more_than_hundred_percent():
    assert corpus_score("token_error_rate", ["a b c"], ["x"]) == 300


def test_whole_answers_are_right_or_wrong():
    answers, references = ["K AE T", "D AO", "x"], ["K AE T", "D AO G", "x"]
    assert corpus_score("exact_match", answers, references) == pytest.approx(200 / 3)
    assert corpus_score("sequence_error_rate", answers, references) == pytest.approx(100 / 3)


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1))
@settings(deadline=None)
def test_an_answer_is_wrong_exactly_where_it_has_token_errors(pairs):
    answers, references = zip(*pairs)
    wrong = sum(get_metric("token_error_rate").counts(*pair)[0] > 0 for pair in pairs)
    expected = pytest.approx(100 * wrong / len(pairs))
    assert corpus_score("sequence_error_rate", answers, references) == expected
    assert 100 - corpus_score("exact_match", answers, references) == expected


@pytest.mark.parametrize("metric_id", IDS)
def test_spacing_is_no_error(metric_id):
    perfect = corpus_score(metric_id, ["K AE T"], ["K AE T"])
    assert corpus_score(metric_id, [" K  AE\tT\n"], ["K AE T"]) == perfect


@pytest.mark.parametrize("metric_id", IDS)
@pytest.mark.parametrize("workers", [1, 2, 5])
@given(pairs=st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=20), data=st.data())
@settings(deadline=None)
def test_a_rate_does_not_depend_on_how_sentences_are_split(metric_id, workers, pairs, data):
    metric = get_metric(metric_id)
    shares = [metric.zero() for _ in range(workers)]
    for pair in pairs:
        shares[data.draw(st.integers(0, workers - 1))] += metric.counts(*pair)
    assert metric.score(np.sum(shares, axis=0)) == corpus_score(metric_id, *zip(*pairs))


def test_empty_references():
    assert corpus_score("token_error_rate", [""], [""]) == 0
    assert corpus_score("token_error_rate", ["a b"], [""]) == 100
    assert corpus_score("exact_match", [""], [""]) == 100
    assert corpus_score("sequence_error_rate", ["a"], [""]) == 100
