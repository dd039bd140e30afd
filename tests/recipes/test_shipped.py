import pytest

from pairloom.pipeline.recipe import load_recipe, shipped_recipes


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_every_recipe_has_its_files_name_a_description_and_comments(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description
    text = shipped_recipes()[name].read_text("utf-8")
    assert text.startswith("#"), "a recipe begins by saying what it is"
    assert f"pairloom run {name}" in text


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_no_recipe_scores_by_the_speed_of_the_machine(name):
    assert load_recipe(name).training.minutes == 0


def test_the_demo_needs_no_files_and_is_short():
    recipe = load_recipe("cmudict")
    assert recipe.data.train is None
    assert recipe.training.epochs <= 3
    assert recipe.evaluation.thresholds["phoneme_error_rate"].at_most == 30
    assert recipe.evaluation.metrics["phoneme_error_rate"] == "token_error_rate"


@pytest.mark.parametrize("name", ["multi30k-en-de", "multi30k-en-de-transformer"])
def test_multi30k_keeps_its_official_splits(name):
    data = load_recipe(name).data
    assert data.eval == {"source": "val.en", "target": "val.de"}
    assert data.test == {"source": "test_2016_flickr.en", "target": "test_2016_flickr.de"}


def test_the_two_models_of_multi30k_differ_in_model_and_training_alone():
    one, other = (load_recipe(f"multi30k-en-de{kind}") for kind in ("", "-transformer"))
    types = [recipe.model.encoders["source"].type for recipe in (one, other)]
    assert types == ["tokens", "transformer"]
    for section in ("data", "fields", "output", "vocabularies", "search", "evaluation"):
        assert getattr(one, section) == getattr(other, section), section


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
@pytest.mark.parametrize("beam", [1, 2, 10])
def test_the_beam_can_be_changed_alone(name, beam):
    if load_recipe(name).search is None:
        pytest.skip("what it writes is not searched for")
    assert load_recipe(name, [f"search.beam={beam}"]).search.answers == min(5, beam)
