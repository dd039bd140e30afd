"""The recipe: one YAML file that says what is woven from what."""

from pairloom.pipeline.recipe.errors import RecipeError
from pairloom.pipeline.recipe.loading import (
    find_recipe,
    load_recipe,
    require_data_folder,
    shipped_recipes,
)
from pairloom.pipeline.recipe.schema import Recipe

__all__ = [
    "Recipe",
    "RecipeError",
    "find_recipe",
    "load_recipe",
    "require_data_folder",
    "shipped_recipes",
]
