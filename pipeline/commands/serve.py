"""`pairloom serve [RUN ...]`: the embedded server, with TF Serving's flags."""

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from typing import Any

from pairloom.pipeline.commands.arguments import add_runs_dir_argument
from pairloom.pipeline.commands.serve_runs import find_all_served, find_scores, model_config
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import shown_path
from pairloom.serving.server import (
    add_serve_arguments,
    options_from_arguments,
    serve,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "run",
        nargs="*",
        metavar="RUN",
        help="runs' names, folders or recipe files (default: the only one there is; not needed "
        "with --model_base_path or --model_config_file)",
    )
    parser.add_argument(
        "--all-versions",
        action="store_true",
        help="serve every version that was pushed, not only the newest, so that the page can "
        "compare them",
    )
    add_runs_dir_argument(parser)
    add_serve_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Serves until it is stopped."""
    defaults: dict[str, Any] = {}
    scores_of = None
    by_flag = args.model_base_path or args.model_config_file
    with ExitStack() as kept:
        if args.run or not by_flag:
            folders = find_all_served(args.runs_dir, args.run)
            several = len(folders) > 1 or args.all_versions
            if several and (by_flag or args.model_name):
                raise UserError(
                    "Expected several models or versions of runs alone. Received: one of "
                    "--model_base_path, --model_config_file and --model_name, too."
                )
            if several:
                file = kept.enter_context(model_config(folders, args.all_versions))
                defaults = {"model_config_file": file}
            else:
                [folder] = folders
                defaults = {"model_base_path": folder.serving, "model_name": folder.name}
            # A flag may name other models than the run's.
            if not by_flag:
                scores_of = partial(find_scores, folders)
            what = ", ".join(f"{each.name} from {shown_path(each.serving)}" for each in folders)
        elif args.all_versions:
            raise UserError(
                "Expected --all-versions with a run. Received: a folder or a config file. There "
                "`model_version_policy { all {} }` in a --model_config_file says the same."
            )
        options = options_from_arguments(args, **defaults)
        if by_flag:
            what = options.model_config_file or options.model_base_path
        # TensorFlow alone takes seconds, in which nothing else would be said.
        print(f"Loading {what}; it takes some seconds.", file=sys.stderr, flush=True)
        serve(options, scores_of)
    return 0
