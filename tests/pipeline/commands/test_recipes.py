from pathlib import Path

from pairloom.pipeline.recipe import load_recipe, shipped_recipes


def test_every_shipped_recipe_is_listed_with_its_description(pairloom):
    code, out, _ = pairloom("recipes")
    assert code == 0
    for name in shipped_recipes():
        assert f"{name} " in out
        assert load_recipe(name).description in out


def test_paths_lead_to_files_that_can_be_copied(pairloom):
    _, out, _ = pairloom("recipes", "--paths")
    for line in out.splitlines():
        assert Path(line.split(maxsplit=1)[1]).is_file()
