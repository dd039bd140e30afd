"""`pairloom compile [airflow] RECIPE`: the pipeline in a file, to be run node by node anywhere."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_runs_dir_argument
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.quiet import hush_environment
from pairloom.pipeline.recipe import Recipe, load_recipe, require_data_folder
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.run_folder import RunFolder, shown_path
from pairloom.pipeline.settings_text import plain

if TYPE_CHECKING:
    from pairloom.pipeline.compiled import CompiledPipeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "scheduler",
        nargs="?",
        choices=["airflow"],
        metavar="SCHEDULER",
        help="airflow: write a DAG file too (default: the pipeline alone)",
    )
    add_recipe_arguments(parser)
    add_runs_dir_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="PLACE",
        help="the file to write (default: NAME.pipeline.json); for airflow the folder of DAGs "
        "(default: dags)",
    )
    parser.add_argument(
        "--pairloom",
        metavar="COMMAND",
        default=str(Path(sys.executable).with_name("pairloom")),
        help="the command `pairloom` where the nodes run (default: this one)",
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
    if args.scheduler == "airflow":
        _write_dag(recipe, compiled, Path(args.output or "dags"), args.pairloom)
        return 0
    file = Path(args.output or f"{recipe.name}.pipeline.json")
    write_compiled(compiled, file)
    print(f"{shown_path(file)}: {', '.join(compiled.nodes)}")
    print("Run a node of it, each after those before it, all with the same id of the run:")
    print(f"  pairloom node {shown_path(file)} {compiled.nodes[0]} --run-id ID")
    return 0


def _write_dag(recipe: Recipe, compiled: "CompiledPipeline", dags: Path, pairloom: str) -> None:
    from pairloom.pipeline.airflow_dag import airflow_dag
    from pairloom.pipeline.compiled import write_compiled, write_whole

    for node in recipe.schedule.nodes:
        if node not in compiled.nodes:
            near = nearest_name(node, compiled.nodes)
            raise UserError(
                f"Expected in schedule.nodes some of {', '.join(compiled.nodes)}. Received: {node}."
                + (f" Did you mean {near}?" if near else "")
            )
    file = dags / f"{recipe.name}.pipeline.json"
    # First what the DAG names, for Airflow reads the folder all the time.
    write_compiled(compiled, file)
    dag = dags / f"{recipe.name}.py"
    write_whole(airflow_dag(recipe, compiled, file.name, pairloom), dag)
    when = recipe.schedule.cron or "by hand: the recipe's schedule has no `cron`"
    print(f"{shown_path(dag)}: {len(compiled.nodes)} tasks, {when}")
    print(f"{shown_path(file)}: what they run")
