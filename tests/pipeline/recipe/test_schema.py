import dataclasses

import pytest

from pairloom.pipeline.recipe import schema


def test_recipes_cannot_be_changed_once_read(load):
    recipe = load()
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.training.epochs = 3


def test_defaults_of_one_recipe_never_leak_into_another():
    first, second = schema.Evaluation(), schema.Evaluation()
    first.metrics["mine"] = "bleu"
    assert "mine" not in second.metrics
