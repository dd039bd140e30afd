"""Alignment error rate in TFMA: it reads what `evaluate` returns beside the answer."""

import importlib

import numpy as np
import pytest


@pytest.fixture(scope="module")
def tfma_metric():
    # Here and not above: TFMA takes ten seconds, and collecting tests should take none.
    return importlib.import_module("pairloom.components.metrics.tfma_metric")


def test_an_older_model_that_gives_no_links_stops_nothing(tfma_metric):
    from pairloom.components.evaluator.eval_config import build_eval_config

    config = build_eval_config({"metrics": ["alignment_error_rate"]}, "target", ["source"])
    text = np.array([b"a"], object)
    links = {name: np.array([b"0-0 1-1"], object) for name in ("links_found", "links_given")}
    example = {
        "labels": {"candidate": text, "baseline": text},
        "predictions": {"candidate": {"target": text, **links}, "baseline": text},
    }
    found = {}
    names = ["candidate", "baseline"]
    metric = tfma_metric.CorpusMetric("alignment_error_rate")
    for computation in metric.computations(eval_config=config, model_names=names):
        [counts] = computation.preprocessors[0].process(example)
        found[computation.keys[0].model_name] = counts.tolist()
    assert found["candidate"] == [4, 4]
    assert np.isnan(found["baseline"]).all()


def test_several_references_have_no_links_in_common(tfma_metric):
    from pairloom.components.evaluator.eval_config import build_eval_config

    evaluation = {"metrics": ["alignment_error_rate"], "references": True}
    with pytest.raises(
        ValueError, match=r"`evaluation.references` must be false .*alignment_error"
    ):
        build_eval_config(evaluation, "target", ["source"])
