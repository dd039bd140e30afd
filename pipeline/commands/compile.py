"""`pairloom compile [airflow | kubeflow] RECIPE`: a pipeline in a file, run node by node."""

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pairloom.pipeline.commands.arguments import add_recipe_arguments, add_runs_dir_argument
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.quiet import hush_environment, keep_off_cloud
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
        choices=["airflow", "kubeflow"],
        metavar="SCHEDULER",
        help="airflow: a DAG file too; kubeflow: a pipeline of containers (default: what "
        "`pairloom node` runs, alone)",
    )
    add_recipe_arguments(parser)
    add_runs_dir_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="PLACE",
        help="the file to write (default: NAME.pipeline.json, for kubeflow "
        "NAME.kubeflow.yaml); for airflow the folder of DAGs (default: dags)",
    )
    parser.add_argument(
        "--pairloom",
        metavar="PATH",
        help="the command `pairloom` where the nodes run, one path or name; a script may hold more "
        "(default: this one; for kubeflow that on the image's PATH)",
    )


def run(args: argparse.Namespace) -> int:
    """Compiles the recipe's pipeline, and says how a node of it is run."""
    recipe = load_recipe(args.recipe, args.overrides)
    file = Path(args.output or f"{recipe.name}.kubeflow.yaml")
    if args.scheduler == "kubeflow" and file.suffix not in (".yaml", ".yml"):
        raise UserError(f"Expected after -o a file that ends in .yaml. Received: {file}.")
    # The containers' volumes are not this machine's.
    compiled = compile_recipe(recipe, args.runs_dir, here=args.scheduler != "kubeflow")
    if args.scheduler == "airflow":
        pairloom = args.pairloom or str(Path(sys.executable).with_name("pairloom"))
        if os.sep in pairloom:
            # Tasks run in a folder of their own.
            pairloom = os.path.abspath(pairloom)
        _write_dag(recipe, compiled, Path(args.output or "dags"), pairloom)
        return 0
    if args.scheduler == "kubeflow":
        write_kubeflow(recipe, compiled, file, args.pairloom)
        images = sorted({str(recipe.schedule.of_node(node).image) for node in compiled.nodes})
        print(f"{shown_path(file)}: {len(compiled.nodes)} containers of {', '.join(images)}")
        return 0
    from pairloom.pipeline.compiled import write_compiled

    file = Path(args.output or f"{recipe.name}.pipeline.json")
    write_compiled(compiled, file)
    print(f"{shown_path(file)}: {', '.join(compiled.nodes)}")
    print("Run a node of it, each after those before it, all with the same id of the run:")
    print(f"  pairloom node {shown_path(file)} {compiled.nodes[0]} --run-id ID")
    return 0


def compile_recipe(recipe: Recipe, runs_dir: str, here: bool = True) -> "CompiledPipeline":
    """A recipe's pipeline with its places, which are made if they are `here`, not in containers."""
    print_notes(recipe)
    require_data_folder(recipe)
    folder = RunFolder.of(runs_dir, recipe.name)
    if here:
        folder.make()
        folder.settle(**plain(recipe.places))
    # Containers have the variables that the schedule gives them, not this machine's.
    environment = os.environ if here else recipe.schedule.secrets
    places = folder.planned(**plain(recipe.places), environment=environment)
    hush_environment()
    keep_off_cloud(repr(recipe))
    from pairloom.pipeline.compiled import compile_pipeline
    from pairloom.pipeline.connecting import holds_password
    from pairloom.pipeline.graph import build_pipeline

    if holds_password(places.metadata):
        words = "the password in `places.metadata` goes into what is compiled, for all to read"
        print(f"Note: {words}. Write $NAME for it: a node takes that from its environment.")
    compiled = compile_pipeline(build_pipeline(recipe, places), places.metadata)
    _check_nodes(recipe, compiled)
    if not here:
        from pairloom.pipeline.kubeflow_places import check_containers, notes_on_containers

        check_containers(recipe, compiled, places)
        for note in notes_on_containers(recipe, compiled, places):
            print(f"Note: {note}", file=sys.stderr)
    return compiled


def _check_nodes(recipe: Recipe, compiled: "CompiledPipeline") -> None:
    for node in recipe.schedule.nodes:
        if node not in compiled.nodes:
            near = nearest_name(node, compiled.nodes)
            raise UserError(
                f"Expected in schedule.nodes some of {', '.join(compiled.nodes)}. Received: {node}."
                + (f" Did you mean {near}?" if near else "")
            )


def _write_dag(recipe: Recipe, compiled: "CompiledPipeline", dags: Path, pairloom: str) -> None:
    from pairloom.pipeline.airflow_dag import airflow_dag
    from pairloom.pipeline.compiled import write_compiled, write_whole

    file = dags / f"{recipe.name}.pipeline.json"
    # First what the DAG names, for Airflow reads the folder all the time.
    write_compiled(compiled, file)
    dag = dags / f"{recipe.name}.py"
    write_whole(airflow_dag(recipe, compiled, file.name, pairloom), dag)
    when = recipe.schedule.cron or "by hand: the recipe's schedule has no `cron`"
    print(f"{shown_path(dag)}: {len(compiled.nodes)} tasks, {when}")
    print(f"{shown_path(file)}: what they run")


def write_kubeflow(
    recipe: Recipe, compiled: "CompiledPipeline", file: Path, pairloom: str | None
) -> None:
    """Writes the pipeline of containers, each of which calls `pairloom` of its image."""
    with needs_kubeflow():
        from pairloom.pipeline.kubeflow_pipeline import write_kubeflow_pipeline
    write_kubeflow_pipeline(recipe, compiled, file, pairloom or "pairloom")


@contextlib.contextmanager
def needs_kubeflow() -> Iterator[None]:
    """Says how to install what an import of Kubeflow's SDK misses."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UserError(
            f"Expected Kubeflow's SDK. Received: no module {error.name}. "
            "`pip install 'pairloom[kubeflow]'` brings it."
        ) from None
