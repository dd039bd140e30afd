import json

import pytest

pytest.importorskip("tfx")

from tfx.types import standard_artifacts

from pairloom.pipeline import baseline
from pairloom.pipeline.baseline import LatestOtherBlessedModel
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field

TEXT, LABEL = Field("source", "text"), Field("target", "label")
PIXELS = Field("pixels", "numbers", shape=(64,))
TRANSLATES = Description((TEXT,), Field("target", "text"), evaluates=("answers",))
CLASSIFIES = Description((TEXT,), LABEL, evaluates=("answers",))
DENOISES = Description((PIXELS,), PIXELS)


@pytest.fixture
def model(tmp_path):
    """`model(3)`: the artifact of a model, by its number and what is written beside its graph."""

    def make(number, described=TRANSLATES):
        artifact = standard_artifacts.Model()
        artifact.id = number
        artifact.uri = str(tmp_path / str(number))
        file = tmp_path / str(number) / "Format-Serving" / DESCRIPTION_FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(described if isinstance(described, str) else described.to_json())
        return artifact

    return make


def blessing(number, blessed=True, at=None):
    artifact = standard_artifacts.ModelBlessing()
    artifact.id = 100 + (at or number)
    artifact.set_int_custom_property("current_model_id", number)
    artifact.set_int_custom_property("blessed", int(blessed))
    return artifact


def resolved(models, blessings, candidate, **config):
    found = LatestOtherBlessedModel(**config).resolve_artifacts(
        None,
        {"model": models, "model_blessing": blessings, "candidate": [candidate]},
    )
    assert set(found) == {"model", "model_blessing", "candidate"}
    assert len(found["model"]) == len(found["model_blessing"]) <= 1
    return [artifact.id for artifact in found["model"]]


def test_the_first_model_is_compared_with_none(model):
    assert resolved([model(1)], [], model(1)) == []


def test_the_latest_blessed_model_is_taken(model):
    models = [model(2), model(3), model(1)]
    assert resolved(models, [blessing(1), blessing(3), blessing(2)], model(9)) == [3]


def test_a_model_that_was_not_blessed_is_passed_over(model):
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2, blessed=False)], model(9)) == [1]


def test_a_model_is_never_compared_with_itself(model):
    """So that a finished pipeline, run again, finds its evaluation in the cache."""
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2)], model(2)) == [1]
    assert resolved([model(2)], [blessing(2)], model(2)) == []


def test_a_model_blessed_anew_is_the_latest(model):
    models = [model(1), model(2)]
    assert resolved(models, [blessing(1), blessing(2), blessing(1, at=3)], model(9)) == [1]


def test_only_a_model_s_last_judgement_counts(model):
    models = [model(1), model(2)]
    judgements = [blessing(1), blessing(2), blessing(2, blessed=False, at=3)]
    assert resolved(models, judgements, model(9)) == [1]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (TRANSLATES, CLASSIFIES),
        (TRANSLATES, Description((Field("english", "text"),), Field("target", "text"))),
        (TRANSLATES, Description((Field("source", "texts"),), Field("target", "text"))),
        (TRANSLATES, Description((TEXT, Field("more", "text")), Field("target", "text"))),
        (TRANSLATES, Description((), Field("target", "text"))),
        (DENOISES, Description((Field("pixels", "numbers", shape=(32,)),), PIXELS)),
        (DENOISES, Description((PIXELS,), Field("pixels", "numbers", shape=(32,)))),
    ],
)
def test_a_model_of_other_fields_is_passed_over(model, before, now):
    """It could not read the examples that the new one is judged by."""
    models = [model(1, now), model(2, before)]
    assert resolved(models, [blessing(1), blessing(2)], model(9, now)) == [1]
    assert resolved(models[1:], [blessing(2)], model(9, now)) == []


def test_what_changes_no_example_is_compared_with(model):
    other = {"labels": ["a", "b"]}
    before = Description(
        (Field("b", "text"), Field("a", "text", "a_tokens", "attention_a")),
        Field("target", "label", details=other),
        task="other",
    )
    now = Description((Field("a", "text"), Field("b", "text")), LABEL, axes={"x": ("y",)})
    assert resolved([model(1, before)], [blessing(1)], model(9, now)) == [1]


@pytest.mark.parametrize("written", ["", "{", '{"inputs": []}'])
def test_a_model_that_tells_nothing_of_itself_is_passed_over(model, written):
    assert resolved([model(1, written)], [blessing(1)], model(9)) == []
    with pytest.raises(ValueError, match="to be judged has no description"):
        resolved([model(1)], [blessing(1)], model(9, written))


def test_a_disk_that_fails_is_no_reason_to_compare_with_nothing(model, monkeypatch):
    import tensorflow as tf

    def failing(*args):
        raise tf.errors.UnavailableError(None, None, "the network is gone")

    models = [model(1)], [blessing(1)], model(9)
    monkeypatch.setattr(baseline.tf.io.gfile, "GFile", failing)
    with pytest.raises(tf.errors.UnavailableError):
        resolved(*models)


def test_a_model_without_a_description_is_passed_over(model, tmp_path):
    bare = model(1)
    (tmp_path / "1" / "Format-Serving" / DESCRIPTION_FILE).unlink()
    assert resolved([bare], [blessing(1)], model(9)) == []


def test_models_may_lie_on_another_file_system(model):
    import tensorflow as tf

    blessed = model(1)
    blessed.uri = "ram://models/1"
    place = f"{blessed.uri}/Format-Serving/{DESCRIPTION_FILE}"
    tf.io.gfile.makedirs(place.rpartition("/")[0])
    with tf.io.gfile.GFile(place, "w") as file:
        file.write(TRANSLATES.to_json())
    assert resolved([blessed], [blessing(1)], model(9)) == [1]


def test_a_model_that_lacks_what_is_compared_is_passed_over(model):
    """Its score would be no number, and nothing is better than that."""
    both = Description((TEXT,), LABEL, evaluates=("answers", "likelihood"))
    only = Description((TEXT,), LABEL, evaluates=("likelihood",))
    models = [model(1, both), model(2, CLASSIFIES), model(3, only)]
    blessings = [blessing(number) for number in (1, 2, 3)]
    found = {
        needs: resolved(models, blessings, model(9, both), needs=needs)
        for needs in ("", "answers", "likelihood", "alignment")
    }
    assert found == {"": [3], "answers": [2], "likelihood": [3], "alignment": []}


@pytest.mark.parametrize("needs", ["", "answers", "likelihood", "alignment"])
def test_what_a_model_of_an_older_pairloom_does_not_say_is_taken_to_fit(model, needs):
    document = json.loads(DENOISES.to_json())
    for part in (document, document["inputs"][0], document["output"]):
        part.pop("evaluates", None), part.pop("shape", None)
    old = model(1, json.dumps(document))
    assert resolved([old], [blessing(1)], model(9, DENOISES), needs=needs) == [1]


@pytest.mark.parametrize(
    ("before", "needs", "why"),
    [
        (DENOISES, "", "it has other fields, pixels (numbers of 64) to pixels (numbers of 64)"),
        (Description((), TEXT), "", "it has other fields, nothing to source (text)"),
        (TRANSLATES, "likelihood", "it gives no likelihood"),
        ("", "", "what it is for cannot be read"),
    ],
)
def test_a_model_that_is_passed_over_is_told_of_once(model, monkeypatch, before, needs, why):
    told = []
    monkeypatch.setattr(baseline, "listener", told.append)
    models = [model(1, before), model(2, before)]
    resolved(models, [blessing(1), blessing(2)], model(9), needs=needs)
    assert told == [f"Not compared with the model blessed last: {why}."]


def test_nothing_is_told_of_models_that_need_not_be_looked_at(model, monkeypatch):
    told = []
    monkeypatch.setattr(baseline, "listener", told.append)
    models = [model(1, DENOISES), model(2), model(3, DENOISES)]
    blessings = [blessing(1), blessing(2), blessing(3, blessed=False)]
    assert resolved(models, blessings, model(9)) == [2]
    assert told == []
