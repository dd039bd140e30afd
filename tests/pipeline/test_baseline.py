import pytest

pytest.importorskip("tfx")

from tfx.types import standard_artifacts

from pairloom.pipeline.baseline import LatestOtherBlessedModel


def model(number):
    artifact = standard_artifacts.Model()
    artifact.id = number
    return artifact


def blessing(number, blessed=True, at=None):
    artifact = standard_artifacts.ModelBlessing()
    artifact.id = 100 + (at or number)
    artifact.set_int_custom_property("current_model_id", number)
    artifact.set_int_custom_property("blessed", int(blessed))
    return artifact


def resolved(models, blessings, candidate):
    found = LatestOtherBlessedModel().resolve_artifacts(
        None,
        {"model": models, "model_blessing": blessings, "candidate": [candidate]},
    )
    assert set(found) == {"model", "model_blessing", "candidate"}
    assert len(found["model"]) == len(found["model_blessing"]) <= 1
    return [artifact.id for artifact in found["model"]]


def test_the_first_model_is_compared_with_none():
    assert resolved([model(1)], [], model(1)) == []


def test_the_latest_blessed_model_is_taken():
    models = [model(2), model(3), model(1)]
    assert resolved(models, [blessing(1), blessing(3), blessing(2)], model(9)) == [3]


def test_a_model_that_was_not_blessed_is_passed_over():
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2, blessed=False)], model(9)) == [1]


def test_a_model_is_never_compared_with_itself():
    """So that a finished pipeline, run again, finds its evaluation in the cache."""
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2)], model(2)) == [1]
    assert resolved([model(2)], [blessing(2)], model(2)) == []


def test_a_model_blessed_anew_is_the_latest():
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2), blessing(1, at=3)], model(9)) == [1]


def test_only_a_model_s_last_judgement_counts():
    models = [model(1), model(2)]
    judgements = [blessing(1), blessing(2), blessing(2, blessed=False, at=3)]
    assert resolved(models, judgements, model(9)) == [1]
