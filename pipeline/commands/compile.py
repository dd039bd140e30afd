"""`pairloom compile RECIPE -o FILE`: the pipeline in a file, to be run node by node anywhere."""

import argparse
from pathlib import Path

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_runs_dir_argument
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.quiet import hush_environment
from pairloom.pipeline.recipe import load_recipe, require_data_folder
from pairloom.pipeline.run_folder import RunFolder, shown_path
from pairloom.pipeline.settings_text import plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add_recipe_arguments(parser)
    add_runs_dir_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the file to write (default: NAME.pipeline.json)",
    )


def run(args: argparse.Namespace) -> int:
    """Compiles the recipe's pipeline, and says how a node of it is run."""
    recipe = load_recipe(args.recipe, args.overrides)
    print_notes(recipe)
    require_data_folder(recipe)
    folder = RunFolder.of(args.runs_dir, recipe.name)
    folder.make()
    folder.settle(**plain(recipe.places))
    hush_environment()
    from pairloom.pipeline.compiled import compile_pipeline, write_compiled
    from pairloom.pipeline.graph import build_pipeline

    compiled = compile_pipeline(build_pipeline(recipe, folder.places), folder.places.metadata)
    file = Path(args.output or f"{recipe.name}.pipeline.json")
    write_compiled(compiled, file)
    print(f"{shown_path(file)}: {', '.join(compiled.nodes)}")
    print("Run a node of it, each after those before it, all with the same id of the run:")
    print(f"  pairloom node {shown_path(file)} {compiled.nodes[0]} --run-id ID")
    return 0
