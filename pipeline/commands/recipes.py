"""`pairloom recipes`: what ships with the package."""

import argparse

from pairloom.pipeline.recipe import load_recipe, shipped_recipes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("--paths", action="store_true", help="show each recipe's file, to copy it")


def run(args: argparse.Namespace) -> int:
    """Prints a line a recipe."""
    shipped = shipped_recipes()
    width = max(map(len, shipped), default=0) + 2
    for name, path in shipped.items():
        print(f"{name:<{width}}{path if args.paths else load_recipe(path).description}")
    return 0
