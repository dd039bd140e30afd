"""`pairloom node FILE NODE --run-id ID`: one node of one run, in a process of its own."""

import argparse
import contextlib
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any, TextIO

from rich.console import Console

from pairloom.pipeline.dates import as_date
from pairloom.pipeline.display import NodeDisplay
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.kubeflow_outputs import show_outputs
from pairloom.pipeline.packing import glance
from pairloom.pipeline.quiet import hush_environment, keep_off_cloud
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.stopping import Interrupted, stoppable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "file", metavar="FILE", help="what `pairloom compile` wrote, or holds in a `pipeline.yaml`"
    )
    parser.add_argument("node", metavar="NODE", help="the node to run, such as Trainer")
    parser.add_argument(
        "--run-id",
        required=True,
        type=_run_id,
        action=_FirstFilled,
        metavar="ID",
        help="names the run: the same for all of its nodes, another for each run. Given more than "
        "once, the first that is no {{placeholder}} counts",
    )
    parser.add_argument(
        "--date",
        type=as_date,
        help="what {DATE} and {SPAN} in the data's paths stand for (default: that of the nodes "
        "before it, and of the first one today)",
    )
    parser.add_argument(
        "--executor-input",
        default="",
        metavar="JSON",
        help="what Kubeflow tells a container: it gets the node's scores and report for its page",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="show what TFX, Beam and TensorFlow log"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the node; the last line on stdout says in JSON what came of it.

    Returns:
        0 for a node that is done, found in the cache or had nothing to do, 1 for one that failed.
    """
    if _is_placeholder(args.run_id):
        raise UserError(
            "Expected an id of the run after --run-id. Received a placeholder that the scheduler "
            f"did not fill in: {args.run_id}."
        )
    hush_environment()
    keep_off_cloud(glance(args.file))
    with stoppable(sys.stderr) as stop, _stdout_to_stderr() as stdout:
        try:
            told = _run(args)
        except KeyboardInterrupt:
            code = 128 + stop.get("signal", signal.SIGINT)
            raise Interrupted("Stopped. The same command runs the node again.", code) from None
        print(json.dumps(told, ensure_ascii=False), file=stdout, flush=True)
    if told["state"] != "failed":
        return 0
    print(f"pairloom: {args.node} failed: {told['reason']}", file=sys.stderr)
    return 1


class _FirstFilled(argparse.Action):
    """Takes the first id that a scheduler has filled in, for each knows placeholders of its own."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        taken = getattr(namespace, self.dest) or ""
        if not taken or _is_placeholder(taken):
            setattr(namespace, self.dest, values)


def _is_placeholder(text: str) -> bool:
    return text.startswith("{{") and text.endswith("}}")


def _run_id(text: str) -> str:
    if not re.fullmatch(r"[\w.:+@-]+", text) and not _is_placeholder(text):
        raise argparse.ArgumentTypeError(f"expected letters, digits and .:+@-_, received {text!r}")
    return text


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[TextIO]:
    """Keeps what libraries print, C++ included, out of the way of the one line on stdout."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "w", encoding="utf-8") as stdout:
            yield stdout
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _run(args: argparse.Namespace) -> dict[str, Any]:
    """Runs the node, and tells what came of it."""
    began = time.monotonic()
    from pairloom.pipeline import compiled, runner

    _log_level(args.verbose)
    told: dict[str, Any] = {"run": args.run_id, "node": args.node}
    try:
        pipeline = compiled.read_compiled(args.file)
        told["pipeline"] = pipeline.name
        _check_node(args.node, pipeline.nodes)
        day = compiled.hold_to(pipeline, args.run_id, args.date)
        ir = pipeline.for_run(args.run_id, day)
        with _shown(f"{pipeline.name}: {args.node}"):
            state = runner.run_node(ir, args.node)
        told["outputs"] = runner.outputs_of(ir, args.node)
        if args.executor_input:
            show_outputs(args.executor_input, told["outputs"])
        told["state"] = state
        if runner.has_withheld(ir, args.node):
            told.update(state="skipped", reason="the model was not blessed, and is not pushed")
    except UserError as error:
        told.update(state="failed", reason=getattr(error, "reason", str(error)))
    except Exception as error:
        # Whoever called it reads the last line, whatever comes.
        traceback.print_exc()
        told.update(state="failed", reason=f"{type(error).__name__}: {error}")
    return {**told, "seconds": round(time.monotonic() - began, 1)}


def _check_node(name: str, nodes: list[str]) -> None:
    if name not in nodes:
        near = nearest_name(name, nodes)
        raise UserError(
            f"Expected one of {', '.join(nodes)}. Received: {name}."
            + (f" Did you mean {near}?" if near else "")
        )


@contextlib.contextmanager
def _shown(title: str) -> Iterator[None]:
    """Writes a training's progress to stderr, line by line: a scheduler keeps that as its log."""
    from pairloom.components.trainer import progress

    with NodeDisplay(Console(file=sys.stderr, width=110, force_terminal=False), title) as display:
        progress.listener, progress.remarks = display.train, display.remark
        try:
            yield
        finally:
            progress.listener = progress.remarks = None


def _log_level(verbose: bool) -> None:
    from absl import logging

    logging.set_verbosity(logging.INFO if verbose else logging.WARNING)
