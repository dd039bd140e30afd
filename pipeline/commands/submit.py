"""`pairloom submit kubeflow RECIPE`: a recipe's pipeline on a Kubeflow, now or by its schedule."""

import argparse
import os
import sys
import tempfile
from datetime import date
from pathlib import Path

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_runs_dir_argument
from pairloom.pipeline.commands.compile import compile_recipe, needs_kubeflow, write_kubeflow
from pairloom.pipeline.dates import as_date, dated_recipe
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import Recipe, load_recipe

HOST_VARIABLE = "KF_PIPELINES_ENDPOINT"
"""Where Kubeflow's own tools read the address."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("scheduler", choices=["kubeflow"], metavar="SCHEDULER", help="kubeflow")
    add_recipe_arguments(parser)
    add_runs_dir_argument(parser)
    parser.add_argument(
        "--host",
        default=os.environ.get(HOST_VARIABLE, ""),
        metavar="URL",
        help=f"Kubeflow Pipelines' address (default: ${HOST_VARIABLE}, else the cluster's own)",
    )
    parser.add_argument(
        "--namespace", default="kubeflow", help="where the containers run (default: kubeflow)"
    )
    parser.add_argument(
        "--experiment", metavar="NAME", help="what runs are listed under (default: the recipe's)"
    )
    parser.add_argument(
        "--service-account",
        default="",
        metavar="NAME",
        help="whose name the containers run in (default: Kubeflow's own)",
    )
    parser.add_argument(
        "--pairloom",
        metavar="COMMAND",
        help="the command `pairloom` in the image (default: that on its PATH)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--date", type=as_date, help="what {DATE} and {SPAN} stand for")
    what.add_argument(
        "--schedule",
        action="store_true",
        help="run by the recipe's `schedule.cron`, in place of its earlier schedule",
    )
    parser.add_argument(
        "--wait", action="store_true", help="until the run has ended; 1 unless it succeeded"
    )


def run(args: argparse.Namespace) -> int:
    """Uploads the pipeline and runs it, or has it run by its schedule."""
    recipe = load_recipe(args.recipe, args.overrides)
    if args.schedule:
        _check_schedule(recipe, args.wait)
    compiled = compile_recipe(recipe, args.runs_dir, here=False)
    with needs_kubeflow():
        from pairloom.pipeline.kubeflow_runs import Kubeflow
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pipeline.yaml")
        write_kubeflow(recipe, compiled, file, args.pairloom)
        experiment = args.experiment or recipe.name
        kubeflow = Kubeflow(args.host, args.namespace, experiment, args.service_account)
        uploaded = kubeflow.upload(file, recipe.name)
    if args.schedule:
        made = kubeflow.schedule(uploaded, recipe.name, recipe.schedule)
        print(f"{recipe.name}: runs at {recipe.schedule.cron} (UTC), schedule {made}")
        return 0
    day = args.date.isoformat() if args.date else ""
    started = kubeflow.run(uploaded, f"{recipe.name} {day}".strip(), day)
    print(f"{recipe.name}: run {started}", flush=True)
    if not args.wait:
        return 0
    ended = kubeflow.wait(
        started,
        compiled.nodes,
        tell=lambda node, state: print(f"  {node}: {state.lower()}", flush=True),
        note=lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(f"{recipe.name}: {ended.lower()}")
    return 0 if ended == "SUCCEEDED" else 1


def _check_schedule(recipe: Recipe, wait: bool) -> None:
    schedule = recipe.schedule
    if not schedule.cron:
        raise UserError(
            "Expected `schedule.cron` in the recipe for --schedule. Received none. "
            "--set schedule.cron='0 3 * * *' runs it at three in the night."
        )
    if len(schedule.cron.split()) != 5:
        raise UserError(
            "Expected in schedule.cron five fields for Kubeflow: minute, hour, day, month, day of "
            f"the week. Received: {schedule.cron!r}."
        )
    if schedule.timezone != "UTC":
        raise UserError(
            "Expected schedule.timezone UTC: Kubeflow has one time zone for all schedules. "
            f"Received: {schedule.timezone}."
        )
    if schedule.catch_up and dated_recipe(recipe, date.today()) != recipe:
        raise UserError(
            "Expected schedule.catch_up false where data are by date: Kubeflow tells no run which "
            "day it makes up for. Received: true. `pairloom submit kubeflow` with --date runs one."
        )
    if wait:
        raise UserError("Expected --schedule or --wait. Received both: a schedule does not end.")
