"""What a recipe's author should know before a night of training."""

from pairloom.pipeline.recipe import Recipe


def print_notes(recipe: Recipe) -> None:
    """A line for each note."""
    for note in recipe.notes:
        print(f"Note: {note}")
