"""The TFMA shell around the metrics; the whole Evaluator runs in tests/components/evaluator."""

import importlib
import pickle

import numpy as np
import pytest

from pairloom.components.metrics import corpus_score, get_metric, metric_ids, metric_takes
from pairloom.components.metrics.likelihood import Likelihood
from pairloom.components.metrics.registry import missing_package

TEXTS = ["das ist mein Haus", "leer", "слон 水"]
ANSWERS = {
    "text": ["das ist ein Haus", "", "слон 水"],
    "label": ["das ist mein Haus", "voll", "слон 水"],
    "numbers": [np.array([0.5, 1.0]), np.array([2.0, 2.0]), np.array([-1.0, 0.0])],
    "likelihood": [Likelihood(-3.0, 5.0, 2.0), Likelihood(-1.5, 2.0, 1.0), Likelihood(-4, 3, 3)],
}
NUMBERS = [np.array([0.0, 1.0]), np.array([2.0, 0.0]), np.array([-1.0, 0.5])]


@pytest.fixture(scope="module")
def tfma_metric():
    # Here and not above: TFMA takes ten seconds, and collecting tests should take none.
    return importlib.import_module("pairloom.components.metrics.tfma_metric")


def extracts(answer, label) -> dict:
    """One example as TFMA's extractors give it: bytes or floats in arrays."""
    if isinstance(label, str):
        label = np.array([label.encode()], object)
    if isinstance(answer, str):
        answer = np.array([answer.encode()], object)
    if isinstance(answer, Likelihood):
        numbers = {name: np.array([value]) for name, value in answer._asdict().items()}
        answer = {"": np.array([b"answered"], object), **numbers}
    return {"labels": label, "predictions": answer, "example_weights": None}


def counted(tfma_metric, metric_id, example, **settings):
    [computation] = tfma_metric.CorpusMetric(metric_id).computations(**settings)
    [counts] = computation.preprocessors[0].process(example)
    return counts


# Links are told beside the answer, not in it: test_alignment_tfma.py.
@pytest.mark.parametrize(
    "metric_id",
    [m for m in metric_ids() if metric_takes(m) in ANSWERS and not missing_package(m)],
)
def test_counted_in_parts_and_merged_it_is_the_corpus_score(tfma_metric, metric_id):
    answers = ANSWERS[metric_takes(metric_id)]
    references = NUMBERS if metric_takes(metric_id) == "numbers" else TEXTS
    [computation] = tfma_metric.CorpusMetric(metric_id, name="shown").computations()
    # Beam sends both to its workers.
    [counter], summer = pickle.loads(
        pickle.dumps((computation.preprocessors, computation.combiner))
    )
    parts = []
    for pair in zip(answers, references):
        [counts] = counter.process(extracts(*pair))
        parts.append(summer.add_input(summer.create_accumulator(), counts))
    before = pickle.dumps(parts)
    [(key, value)] = summer.extract_output(summer.merge_accumulators(parts)).items()
    assert key.name == "shown"
    assert isinstance(value, float)
    assert value == pytest.approx(corpus_score(metric_id, answers, references), abs=1e-9)
    assert pickle.dumps(parts) == before


def test_an_example_may_have_several_references(tfma_metric):
    label = np.array([b"a b", b"c d", b"e"], object)
    counts = counted(tfma_metric, "bleu", extracts("c x", label))
    assert counts.tolist() == get_metric("bleu").counts("c x", ["a b", "c d", "e"]).tolist()
    label = np.array([0.0, 0.0, 1.0, 2.0], np.float32)
    counts = counted(tfma_metric, "mse", extracts(np.array([1.0, 1.0], np.float32), label))
    assert counts.tolist() == [1, 2]


def test_each_model_gets_its_own_outputs(tfma_metric):
    from pairloom.components.evaluator.eval_config import build_eval_config

    config = build_eval_config({"metrics": ["exact_match", "perplexity"]}, "answer")
    wrong, right = np.array([b"x"], object), np.array([b"a"], object)
    numbers = {name: np.array([2.0]) for name in Likelihood._fields}
    example = {
        "labels": {"candidate": right, "baseline": right},
        # TFMA takes a single output out of its dict: an older model has but the answer.
        "predictions": {"candidate": {"answer": right, **numbers}, "baseline": wrong},
    }
    settings = {"eval_config": config, "model_names": ["candidate", "baseline"]}
    found = {}
    for metric_id in ("exact_match", "perplexity"):
        for computation in tfma_metric.CorpusMetric(metric_id).computations(**settings):
            [counts] = computation.preprocessors[0].process(example)
            found[metric_id, computation.keys[0].model_name] = counts.tolist()
    assert found["exact_match", "candidate"] == [1, 1]
    assert found["exact_match", "baseline"] == [0, 1]
    assert found["perplexity", "candidate"] == [2, 2]
    # The model in production need not know what its successor's recipe asks for.
    assert np.isnan(found["perplexity", "baseline"]).all()


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
    settings = {"name": "example_count", "at_most": 5, "group_by": ["photo"]}
    assert tfma_metric.EvaluatedExamples.from_config(settings).get_config() == settings


def test_bytes_that_are_not_utf8_are_scored_as_wrong_characters(tfma_metric):
    bad = {**extracts("", "b"), "predictions": np.array([b"\xff"], object)}
    assert counted(tfma_metric, "exact_match", bad).tolist() == [0, 1]
