"""`pairloom run RECIPE`: the pipeline, then what came of it."""

import argparse
from datetime import date

from rich.console import Console

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_run_arguments
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.dates import as_date, dated_recipe
from pairloom.pipeline.execution import execute
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.run_log import RunLog
from pairloom.pipeline.summary import print_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add_recipe_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument(
        "--from",
        dest="start",
        default="",
        metavar="NODE",
        help="run this node and those behind it; what they need is the last run's",
    )
    parser.add_argument(
        "--to", dest="end", default="", metavar="NODE", help="run no more than this node needs"
    )
    parser.add_argument(
        "--date",
        type=as_date,
        default=date.today(),
        help="what {DATE} and {SPAN} in the data's paths stand for (default: today)",
    )


def run(args: argparse.Namespace) -> int:
    """Runs the recipe; ends with 0 even where the model was not blessed: the run did its work."""
    recipe = load_recipe(args.recipe, args.overrides)
    print_notes(recipe)
    dated = dated_recipe(recipe, args.date)
    finished = execute(dated, args.runs_dir, args.verbose, start=args.start, end=args.end)
    if args.end:
        print(f"Ran to {args.end}; `pairloom run` without --to goes on from there.")
        return 0
    console = Console(record=True)
    print_summary(console, finished)
    RunLog(finished.log).tell(console.export_text())
    return 0
