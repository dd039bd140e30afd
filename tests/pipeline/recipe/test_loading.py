from pathlib import Path

import pytest

from pairloom.kinds.text.vocabulary import Vocabulary
from pairloom.pipeline.recipe import (
    RecipeError,
    find_recipe,
    load_recipe,
    require_data_folder,
    shipped_recipes,
)


def test_a_minimal_recipe_is_completed_without_gaps(load, tmp_path):
    recipe = load()
    assert recipe.data.folder == str(tmp_path.resolve())
    assert recipe.inputs == ("source",)
    assert recipe.data.split_by == "source"
    assert {name: f.vocabulary for name, f in recipe.fields.items()} == {
        "source": "source",
        "target": "target",
    }
    assert recipe.vocabularies == {"source": Vocabulary("bpe", 8000), "target": Vocabulary()}
    assert recipe.evaluation.compare == "bleu"
    assert recipe.file == str(tmp_path / "words.yaml")


def test_a_shared_vocabulary_is_listed_once(load):
    recipe = load(
        """
        fields: {source: {vocabulary: joint}, target: {vocabulary: joint}}
        vocabularies: {joint: {size: 500}}
        """
    )
    assert recipe.vocabularies == {"joint": Vocabulary("bpe", 500)}


def test_the_comparison_is_with_the_first_metric_unless_it_is_switched_off(load):
    assert load("evaluation: {metrics: [ter, bleu]}").evaluation.compare == "ter"
    assert load("evaluation: {metrics: [ter, bleu], compare: bleu}").evaluation.compare == "bleu"
    assert load("evaluation: {metrics: [ter], compare: null}").evaluation.compare is None


def test_a_list_of_metrics_shows_each_under_its_own_name(load):
    assert load("evaluation: {metrics: [bleu, chrf]}").evaluation.metrics == {
        "bleu": "bleu",
        "chrf": "chrf",
    }


def test_paths_start_at_the_recipe_and_at_the_user_for_a_command_line_folder(
    load, tmp_path, monkeypatch
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load("", "name=other").data.folder == str(tmp_path.resolve())
    base = "name: a\ndata: {format: tsv, train: a.tsv, folder: sub}\n"
    assert load(base=base).data.folder == str(tmp_path.resolve() / "sub")
    assert load("", "data.folder=sub").data.folder == str(elsewhere.resolve() / "sub")


def test_a_folder_in_a_cloud_bucket_stays_as_it_is(load):
    assert load("", "data.folder=gs://bucket/data").data.folder == "gs://bucket/data"


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_recipes_that_ship_are_found_by_bare_name(name):
    assert find_recipe(name) == shipped_recipes()[name]
    assert load_recipe(name).name == name


def test_a_file_of_the_users_goes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cmudict").write_text("name: mine\ndata: {format: cmudict}\n")
    assert load_recipe("cmudict").name == "mine"


def test_a_misspelt_shipped_name_gets_the_nearest_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError) as caught:
        find_recipe("cmudcit")
    assert caught.value.nearest == "cmudict"
    assert "multi30k-en-de" in caught.value.expected


def test_a_missing_file_gets_the_nearest_one_beside_it(tmp_path):
    (tmp_path / "english.yaml").touch()
    with pytest.raises(RecipeError, match="not there") as caught:
        find_recipe(tmp_path / "englsh.yaml")
    assert caught.value.nearest == str(tmp_path / "english.yaml")


def test_a_folder_is_not_a_recipe(tmp_path):
    with pytest.raises(RecipeError, match="a folder"):
        find_recipe(tmp_path)


def test_a_shipped_recipe_that_needs_files_asks_for_their_folder(tmp_path):
    with pytest.raises(RecipeError, match="--set data.folder="):
        require_data_folder(load_recipe("multi30k-en-de"))
    require_data_folder(load_recipe("multi30k-en-de", [f"data.folder={tmp_path}"]))
    require_data_folder(load_recipe("cmudict"))


def test_a_schema_that_is_not_there_is_named(tmp_path):
    with pytest.raises(RecipeError, match=r"TFDV schema\n.*absent.pbtxt, no file"):
        load_recipe("cmudict", [f"schema={tmp_path / 'absent.pbtxt'}"])
