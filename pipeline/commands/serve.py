"""`pairloom serve [RUN]`: the embedded server, with TF Serving's flags."""

import argparse
import sys
from functools import partial
from pathlib import Path

from pairloom.components.pusher.versions import pushed_versions
from pairloom.pipeline.commands.arguments import add_runs_dir_argument
from pairloom.pipeline.commands.runs import find_run_folders
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.run_folder import RunFolder
from pairloom.serving.server import (
    RunScores,
    add_serve_arguments,
    options_from_arguments,
    serve,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="a run's name or folder (default: the only one there is; not needed with "
        "--model_base_path or --model_config_file)",
    )
    add_runs_dir_argument(parser)
    add_serve_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Serves until it is stopped."""
    defaults, scores_of = {}, None
    if args.run or not (args.model_base_path or args.model_config_file):
        folder = find_served(args.runs_dir, args.run)
        defaults = {"model_base_path": folder.serving, "model_name": folder.name}
        # A flag may name other models than the run's.
        if not (args.model_base_path or args.model_config_file):
            scores_of = partial(find_scores, folder)
    options = options_from_arguments(args, **defaults)
    # TensorFlow alone takes seconds, in which nothing else would be said.
    what = options.model_config_file or f"{options.model_name} from {options.model_base_path}"
    print(f"Loading {what}; it takes some seconds.", file=sys.stderr, flush=True)
    serve(options, scores_of)
    return 0


def find_scores(folder: RunFolder, name: str, version: int) -> RunScores | None:
    """The scores of the run that pushed a version; None where there is no record of it."""
    # Imported here: ML Metadata takes seconds, and only the page asks.
    from pairloom.pipeline.records import list_runs

    for record in list_runs(folder):
        # The first one trained it; later ones found it in the cache.
        if record.pushed == str(version):
            return RunScores(record.scores, record.started.isoformat(), record.seconds)
    return None


def find_served(runs_dir: str, run: str | None) -> RunFolder:
    """The run folder to serve from.

    Args:
        runs_dir: Where runs are kept.
        run: A name under it, or a folder; None for the only one with a pushed model.

    Raises:
        UserError: there is none, there are several, or it has no pushed model.
    """
    served = [f for f in find_run_folders(runs_dir) if has_versions(f)]
    names = [folder.name for folder in served]
    if run is None:
        if len(served) == 1:
            return served[0]
        if not served:
            raise UserError(
                f"Expected a run with a pushed model under {runs_dir}. Received: none there. "
                "Make one with `pairloom run RECIPE`, or name a folder with --model_base_path."
            )
        raise UserError(
            f"Expected one run to serve. Received: none of {', '.join(names)}. Name one, as in "
            f"`pairloom serve {names[0]}`."
        )
    path = Path(run)
    folder = (
        RunFolder(path.resolve(), path.resolve().name)
        if (path / "serving").is_dir()
        else RunFolder.of(runs_dir, run)
    )
    if not has_versions(folder):
        near = nearest_name(run, names)
        there = "no such run"
        if folder.path.is_dir():
            there = f"no model was pushed to {folder.serving}"
        hint = f" Did you mean `{near}`?" if near and near != run else ""
        known = f" Runs with one: {', '.join(names)}." if names else ""
        raise UserError(
            f"Expected a run with a pushed model. Received: {run} ({there}).{hint}{known}"
        )
    return folder


def has_versions(folder: RunFolder) -> bool:
    """Whether a model was ever pushed there."""
    try:
        return bool(pushed_versions(folder.serving))
    except OSError:
        return False
