import dataclasses

import pytest

from pairloom.components.trainer.settings import TrainingSettings
from pairloom.pipeline.recipe import schema
from pairloom.pipeline.settings_text import plain


def test_recipes_cannot_be_changed_once_read(load):
    recipe = load()
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.training.epochs = 3


def test_defaults_of_one_recipe_never_leak_into_another():
    first, second = schema.Evaluation(), schema.Evaluation()
    first.metrics["mine"] = "bleu"
    assert "mine" not in second.metrics


def test_the_trainer_takes_every_training_setting():
    settings = TrainingSettings.from_mapping(plain(schema.Training()))
    assert plain(settings) == plain(schema.Training())
