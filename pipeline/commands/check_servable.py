"""`pairloom check-servable DIR`: whether the stock image of TF Serving can load a SavedModel."""

import argparse
import sys
from pathlib import Path

from pairloom.components.anywhere import is_url
from pairloom.pipeline.commands.arguments import add_runs_dir_argument
from pairloom.pipeline.commands.serve_runs import find_served
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import shown_path
from pairloom.serving.ops import IMAGE, LIBRARIES
from pairloom.serving.ops.checking import Servable, check_servable
from pairloom.serving.versions import versions_on_disk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        help="a version's folder, a folder of versions (the highest counts), or a run",
    )
    add_runs_dir_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Lists the ops; ends with 1 if one is unknown to the image."""
    folder = find_version(args.folder, args.runs_dir)
    try:
        found = check_servable(folder)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(
            f"Expected a SavedModel for serving. Received: {shown_path(folder)}, whose "
            f"saved_model.pb {reason}."
        ) from None
    print_ops(found)
    sys.stdout.flush()
    for remark in found.remarks:
        print(f"pairloom: {remark}", file=sys.stderr)
    if found.problems:
        for problem in found.problems:
            print(f"pairloom: {shown_path(folder)}: {problem}", file=sys.stderr)
        return 1
    print(f"\n{IMAGE} can load {shown_path(folder)}.")
    return 0


def print_ops(found: Servable) -> None:
    """A line an op, those of each library together; then the versions."""
    width = max((len(op.name) for op in found.ops), default=0)
    for library in (None, *LIBRARIES):
        for op in found.ops:
            if op.library == library:
                origin = LIBRARIES[library] if library else "unknown"
                print(f"{op.name:<{width}}  {op.count:>6,}  {origin}")
    graph = found.graph
    print(
        f"\n{len(found.ops)} kinds of ops in {sum(graph.counts.values()):,} nodes, written by "
        f"TensorFlow {graph.tensorflow} as graph version {graph.producer} for runtimes from "
        f"{graph.min_consumer} on."
    )


def find_version(folder: str, runs_dir: str) -> Path:
    """The version's folder that the user means.

    Raises:
        UserError: there is none.
    """
    path = Path(folder)
    if (path / "saved_model.pb").is_file():
        return path
    if newest := _newest(path):
        return newest
    if path.is_dir() and not (path / "serving").is_dir() and path.parent != Path("."):
        raise UserError(
            "Expected a folder with a saved_model.pb, a folder of such folders named by their "
            f"version, or a run. Received: {folder}, which is none of them."
        )
    served = _on_disk(find_served(runs_dir, folder).serving)
    newest = _newest(served)
    if newest is None:
        raise UserError(f"Expected a version with a saved_model.pb in {served}. Received: none.")
    return newest


def _on_disk(served: str) -> Path:
    if is_url(served):
        raise UserError(
            f"Expected a version on a disk. Received: a run that pushes to {served}. Copy a "
            "version down, and name its folder."
        )
    return Path(served)


def _newest(base: Path) -> Path | None:
    try:
        versions = versions_on_disk(base).values()
    except OSError:
        return None
    return next((path for path in versions if (path / "saved_model.pb").is_file()), None)
