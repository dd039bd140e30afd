import subprocess
import sys

import pytest

from pairloom.components.metrics import corpus_score, get_metric, metric_ids

HIGHER_IS_BETTER = {
    "bleu": True,
    "chrf": True,
    "ter": False,
    "token_error_rate": False,
    "sequence_error_rate": False,
    "exact_match": True,
}


def test_the_ids_are_those_of_the_recipe():
    assert set(metric_ids()) == set(HIGHER_IS_BETTER)


@pytest.mark.parametrize("metric_id", metric_ids())
def test_a_metric_knows_its_id_and_direction(metric_id):
    metric = get_metric(metric_id)
    assert metric.id == metric_id
    assert metric.higher_is_better == HIGHER_IS_BETTER[metric_id]
    assert metric.signature()


@pytest.mark.parametrize("metric_id", metric_ids())
def test_better_answers_score_in_the_stated_direction(metric_id):
    references = ["the cat sat on the mat", "a dog ran home at night"]
    perfect = corpus_score(metric_id, references, references)
    worse = corpus_score(metric_id, ["the cat sat on a hat", "dogs"], references)
    assert (perfect > worse) == HIGHER_IS_BETTER[metric_id]
    assert perfect == pytest.approx(100 if HIGHER_IS_BETTER[metric_id] else 0)


@pytest.mark.parametrize("metric_id", metric_ids())
def test_an_empty_corpus_scores_zero(metric_id):
    assert corpus_score(metric_id, [], []) == 0


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"one of bleu, .*'token_eror_rate'.*'token_error_rate'\?"):
        get_metric("token_eror_rate")


def test_answers_and_references_must_be_as_many():
    with pytest.raises(ValueError, match="2 hypotheses, 1 references"):
        corpus_score("bleu", ["a", "b"], ["a"])


def test_scoring_needs_neither_tensorflow_nor_tfma():
    code = (
        "import sys; from pairloom.components.metrics import metric_ids; metric_ids();"
        "assert 'sacrebleu' not in sys.modules;"
        "from pairloom.components.metrics import corpus_score; corpus_score('bleu', ['a'], ['a']);"
        "assert not {'tensorflow', 'tensorflow_model_analysis', 'apache_beam'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
