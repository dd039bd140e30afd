"""`pairloom run RECIPE`: the pipeline, then what came of it."""

import argparse

from rich.console import Console

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_run_arguments
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.execution import execute
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.summary import print_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add_recipe_arguments(parser)
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the recipe; ends with 0 even where the model was not blessed: the run did its work."""
    recipe = load_recipe(args.recipe, args.overrides)
    print_notes(recipe)
    finished = execute(recipe, args.runs_dir, args.verbose)
    print_summary(Console(), finished)
    return 0
