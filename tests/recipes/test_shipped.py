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


def test_the_demo_needs_no_files_and_is_short():
    recipe = load_recipe("cmudict")
    assert recipe.data.train is None
    assert 0 < recipe.training.minutes <= 5
    assert recipe.evaluation.thresholds["phoneme_error_rate"].at_most == 30
    assert recipe.evaluation.metrics["phoneme_error_rate"] == "token_error_rate"


def test_multi30k_keeps_its_official_splits():
    data = load_recipe("multi30k-en-de").data
    assert data.eval == {"source": "val.en", "target": "val.de"}
    assert data.test == {"source": "test_2016_flickr.en", "target": "test_2016_flickr.de"}


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
@pytest.mark.parametrize("beam", [1, 2, 10])
def test_the_beam_can_be_changed_alone(name, beam):
    assert load_recipe(name, [f"search.beam={beam}"]).search.nbest == min(5, beam)
