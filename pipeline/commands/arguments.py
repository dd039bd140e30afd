"""Arguments that several commands share."""

import argparse


def add_recipe_arguments(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """RECIPE and --set, as every command that reads a recipe has them."""
    parser.add_argument(
        "recipe",
        metavar="RECIPE",
        nargs="?" if default else None,
        default=default,
        help="a recipe file, or the name of one that `pairloom recipes` lists"
        + (f" (default {default})" if default else ""),
    )
    add_override_argument(parser)


def add_override_argument(parser: argparse.ArgumentParser) -> None:
    """--set."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help="override a key of the recipe, as in --set training.epochs=3; may be repeated",
    )


def add_runs_dir_argument(parser: argparse.ArgumentParser) -> None:
    """--runs-dir."""
    parser.add_argument("--runs-dir", default="runs", help="where runs are kept (default: runs)")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """--runs-dir and --verbose."""
    add_runs_dir_argument(parser)
    parser.add_argument(
        "--verbose", action="store_true", help="show what TFX, Beam and TensorFlow log"
    )
