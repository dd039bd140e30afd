import importlib.util
import subprocess
import sys

import pytest

from pairloom.components.metrics import (
    corpus_score,
    get_metric,
    metric_ids,
    metric_takes,
    missing_package,
)

TEXTS = {
    "bleu": True,
    "bleu_1": True,
    "bleu_2": True,
    "bleu_3": True,
    "bleu_char": True,
    "bleu_zh": True,
    "bleu_ja_mecab": True,
    "bleu_intl": True,
    "bleu_none": True,
    "chrf": True,
    "ter": False,
    "rouge_1": True,
    "rouge_2": True,
    "rouge_l": True,
    "token_error_rate": False,
    "character_error_rate": False,
    "sequence_error_rate": False,
    "exact_match": True,
    "distinct_1": True,
    "distinct_2": True,
}
LABELS = {"accuracy": True, "macro_f1": True}
LIKELIHOODS = {"perplexity": False, "bits_per_character": False, "next_token_accuracy": True}
HIGHER_IS_BETTER = {**TEXTS, **LABELS, "mse": False, **LIKELIHOODS, "alignment_error_rate": False}
INSTALLED = [id for id in metric_ids() if not missing_package(id)]
COMPARED = [id for id in [*TEXTS, *LABELS] if id in INSTALLED and not id.startswith("distinct")]


def test_the_ids_are_those_of_the_recipe():
    assert set(metric_ids()) == set(HIGHER_IS_BETTER)


@pytest.mark.parametrize(
    ("takes", "ids"),
    [("text", TEXTS), ("label", LABELS), ("numbers", ["mse"]), ("likelihood", LIKELIHOODS)],
)
def test_a_metric_says_what_it_takes(takes, ids):
    assert [id for id in metric_ids() if metric_takes(id) == takes] == list(ids)
    assert {get_metric(id).takes for id in ids if id in INSTALLED} == {takes}


@pytest.mark.parametrize("metric_id", INSTALLED)
def test_a_metric_knows_its_id_and_direction(metric_id):
    metric = get_metric(metric_id)
    assert metric.id == metric_id
    assert metric.higher_is_better == HIGHER_IS_BETTER[metric_id]
    assert metric.signature()


@pytest.mark.parametrize("metric_id", COMPARED)
def test_better_answers_score_in_the_stated_direction(metric_id):
    references = ["the cat sat on the mat", "a dog ran home at night"]
    perfect = corpus_score(metric_id, references, references)
    worse = corpus_score(metric_id, ["the cat sat on a hat", "dogs"], references)
    assert (perfect > worse) == HIGHER_IS_BETTER[metric_id]
    assert perfect == pytest.approx(100 if HIGHER_IS_BETTER[metric_id] else 0)


@pytest.mark.parametrize("metric_id", INSTALLED)
@pytest.mark.parametrize("references", ["a text", b"bytes", [], ()])
def test_references_are_a_sequence_of_at_least_one(metric_id, references):
    with pytest.raises(ValueError, match="sequence of at least one right answer. Received: "):
        get_metric(metric_id).counts("a", references)


@pytest.mark.parametrize("metric_id", INSTALLED)
def test_an_empty_corpus_scores_zero(metric_id):
    assert corpus_score(metric_id, [], []) == 0


def test_a_metric_says_what_must_be_installed(monkeypatch):
    assert missing_package("bleu") == ""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert missing_package("bleu_ja_mecab") == "sacrebleu[ja]"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    assert missing_package("bleu_ja_mecab") == ""


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"one of bleu, .*'token_eror_rate'.*'token_error_rate'\?"):
        get_metric("token_eror_rate")
    with pytest.raises(ValueError, match=r"Received: 'mze'. Did you mean 'mse'\?"):
        metric_takes("mze")


def test_answers_and_references_must_be_as_many():
    with pytest.raises(ValueError, match="2 hypotheses, 1 references"):
        corpus_score("bleu", ["a", "b"], ["a"])


def test_scoring_needs_neither_tensorflow_nor_tfma():
    code = (
        "import sys; from pairloom.components.metrics import metric_ids, metric_takes;"
        "[metric_takes(id) for id in metric_ids()];"
        "assert not {'sacrebleu', 'numpy'} & set(sys.modules);"
        "from pairloom.components.metrics import corpus_score; corpus_score('bleu', ['a'], ['a']);"
        "assert not {'tensorflow', 'tensorflow_model_analysis', 'apache_beam'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
