"""The TFMA shell around the metrics; the whole Evaluator runs in tests/components/evaluator."""

import importlib
import pickle

import numpy as np
import pytest

from pairloom.components.metrics import corpus_score, metric_ids

PAIRS = [("das ist ein Haus", "das ist mein Haus"), ("", "leer"), ("слон 水", "слон 水")]


@pytest.fixture(scope="module")
def tfma_metric():
    # Here and not above: TFMA takes ten seconds, and collecting tests should take none.
    return importlib.import_module("pairloom.components.metrics.tfma_metric")


def extracts(answer: str, label: str) -> dict:
    """One example as TFMA's extractors give it: bytes in arrays."""
    return {
        "labels": np.array([label.encode()], object),
        "predictions": np.array([answer.encode()], object),
        "example_weights": None,
    }


@pytest.mark.parametrize("metric_id", metric_ids())
def test_counted_in_parts_and_merged_it_is_the_corpus_score(tfma_metric, metric_id):
    [computation] = tfma_metric.CorpusMetric(metric_id, name="shown").computations()
    # Beam sends both to its workers.
    [counter], summer = pickle.loads(
        pickle.dumps((computation.preprocessors, computation.combiner))
    )
    parts = []
    for pair in PAIRS:
        [counts] = counter.process(extracts(*pair))
        parts.append(summer.add_input(summer.create_accumulator(), counts))
    [(key, value)] = summer.extract_output(summer.merge_accumulators(parts)).items()
    assert key.name == "shown"
    assert isinstance(value, float)
    assert value == pytest.approx(corpus_score(metric_id, *zip(*PAIRS)), abs=1e-9)


def test_every_model_has_its_own_key(tfma_metric):
    metric = tfma_metric.CorpusMetric("bleu")
    computations = metric.computations(model_names=["candidate", "baseline"])
    keys = [(key.name, key.model_name) for item in computations for key in item.keys]
    assert keys == [("bleu", "candidate"), ("bleu", "baseline")]
    assert len(set(computations)) == 2


def test_two_metrics_under_one_name_are_not_taken_for_one(tfma_metric):
    a, b = (tfma_metric.CorpusMetric(metric, name="x").computations() for metric in ("ter", "bleu"))
    assert a != b


def test_a_metric_is_made_again_from_its_config(tfma_metric):
    metric = tfma_metric.CorpusMetric("token_error_rate", name="per")
    assert metric.get_config() == {"metric": "token_error_rate", "name": "per"}
    again = tfma_metric.CorpusMetric.from_config(metric.get_config())
    assert again.name == "per"
    count = tfma_metric.EvaluatedExamples.from_config({"at_most": 5, "name": "example_count"})
    assert count.get_config() == {"name": "example_count", "at_most": 5}


def test_bytes_that_are_not_utf8_are_scored_as_wrong_characters(tfma_metric):
    [computation] = tfma_metric.CorpusMetric("exact_match").computations()
    bad = {**extracts("", "b"), "predictions": np.array([b"\xff"], object)}
    [counts] = computation.preprocessors[0].process(bad)
    assert counts.tolist() == [0, 1]


@pytest.mark.parametrize("answers", [np.array([0.5]), np.array([b"a", b"b"], object)])
def test_answers_that_are_not_one_text_are_an_error(tfma_metric, answers):
    [computation] = tfma_metric.CorpusMetric("bleu").computations()
    with pytest.raises(ValueError, match=r"`evaluate` signature must return strings of shape"):
        list(computation.preprocessors[0].process({**extracts("", "b"), "predictions": answers}))
