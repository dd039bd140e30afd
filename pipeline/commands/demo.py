"""`pairloom demo [RECIPE]`: a run, a server, three questions, and what to type next."""

import argparse

from rich.console import Console

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_run_arguments
from pairloom.pipeline.demo import ask_held_out
from pairloom.pipeline.execution import execute
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.summary import print_next, print_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add_recipe_arguments(parser, default="cmudict")
    add_run_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Ends with 1 where nothing was pushed, so that there is nothing to show."""
    recipe = load_recipe(args.recipe, args.overrides)
    finished = execute(recipe, args.runs_dir, args.verbose)
    console = Console()
    results = print_summary(console, finished, next_commands=False)
    if not results.pushed:
        return 1
    asked = ask_held_out(recipe, finished)
    console.print()
    print_next(console, finished, *asked[:1])
    return 0
