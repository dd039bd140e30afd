"""One run of a recipe, from the lock to the last node, as a user sees it."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console

from pairloom.components.pairs.check import check_pairs
from pairloom.pipeline import quiet, records
from pairloom.pipeline.display import NodeDisplay
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import Recipe, require_data_folder
from pairloom.pipeline.run_folder import RunFolder, shown_path
from pairloom.pipeline.settings_text import plain

if TYPE_CHECKING:
    from pairloom.pipeline.runner import NodeEvent

_PATIENCE_SECONDS = 15.0
_QUICK_LOOK = 50


@dataclass(frozen=True)
class FinishedRun:
    """A run that reached its end.

    Args:
        run_id: Its id in ML Metadata.
        folder: Its folder.
        log: Its log file.
    """

    run_id: str
    folder: RunFolder
    log: Path


class Interrupted(KeyboardInterrupt):
    """The user stopped the run; `exit_code` is what the shell expects then."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


Build = Callable[[Recipe, RunFolder], Any]


def execute(
    recipe: Recipe, runs_dir: str | Path, verbose: bool = False, build: Build | None = None
) -> FinishedRun:
    """Runs a recipe's pipeline, showing each node.

    Args:
        recipe: As `load_recipe` returns it.
        runs_dir: The run's folder is made in there.
        verbose: Let the libraries log to the terminal.
        build: Makes the TFX pipeline; None is `pairloom.pipeline.graph.build_pipeline`.

    Raises:
        UserError: the recipe, its data, the folder or a node is at fault.
        Interrupted: after Ctrl-C or SIGTERM; the same call goes on from there.
    """
    look_at_data(recipe)
    folder = RunFolder.of(runs_dir, recipe.name)
    folder.make()
    with folder.locked():
        records.mend(folder)
        run_id = records.new_run_id()
        log = folder.logs / f"{run_id}.log"
        with quiet.output_to(log, verbose) as terminal, _stoppable(terminal) as stop:
            try:
                _run_pipeline(recipe, folder, run_id, terminal, build)
            except UserError as error:
                raise UserError(f"{error}\n  log: {shown_path(log)}") from error
            except KeyboardInterrupt:
                records.mend(folder)
                raise Interrupted(
                    "Stopped. The same command goes on from there; finished nodes are kept.",
                    128 + stop.get("signal", signal.SIGINT),
                ) from None
    return FinishedRun(run_id, folder, log)


def look_at_data(recipe: Recipe) -> None:
    """Reads the first rows of every file: a wrong path is told now, not after TFX has loaded."""
    require_data_folder(recipe)
    check_pairs(
        plain(recipe.data),
        plain(recipe.fields),
        recipe.output,
        at_most=_QUICK_LOOK,
        strict=False,
        inputs=recipe.inputs,
    )


def terminal_console(stream: TextIO) -> Console:
    """A console on a stream, as wide as the terminal behind it."""
    if not stream.isatty():
        return Console(file=stream, width=110)
    # A terminal that was never told its size says 0.
    return Console(file=stream, width=os.get_terminal_size(stream.fileno()).columns or 80)


def _run_pipeline(
    recipe: Recipe, folder: RunFolder, run_id: str, terminal: TextIO, build: Build | None
) -> None:
    title = f"{recipe.name} → {shown_path(folder.path)}"
    with NodeDisplay(terminal_console(terminal), title) as display:
        from pairloom.components.trainer.devices import reserve_devices
        from pairloom.pipeline import runner

        # Now: the first node that uses TensorFlow fixes its devices for the whole process.
        reserve_devices(recipe.training.devices)
        if build is None:
            from pairloom.pipeline.graph import build_pipeline

            build = build_pipeline
        ir = runner.compile_pipeline(build(recipe, folder), run_id)
        names = runner.node_names(ir)
        display.expect(names)
        with _listening(display) if "Trainer" in names else contextlib.nullcontext():
            runner.run_nodes(ir, _observing(display, recipe, folder))


def _observing(
    display: NodeDisplay, recipe: Recipe, folder: RunFolder
) -> "Callable[[NodeEvent], None]":
    """Shows every event, and behind a training what cut it short."""
    from pairloom.pipeline.training_end import why_training_ended

    def observe(event: "NodeEvent") -> None:
        display.observe(event)
        ended = event.node == "Trainer" and event.state == "done"
        if ended and (words := why_training_ended(folder.checkpoints, recipe.training)):
            display.remark(words)

    return observe


@contextlib.contextmanager
def _listening(display: NodeDisplay) -> Iterator[None]:
    """Lets the trainer draw its progress on the display."""
    from pairloom.components.trainer import progress

    progress.listener = display.train
    try:
        yield
    finally:
        progress.listener = None


@contextlib.contextmanager
def _stoppable(terminal: TextIO) -> Iterator[dict[str, Any]]:
    """Turns Ctrl-C and SIGTERM into one KeyboardInterrupt.

    A node that is deep in C++ may not notice; so a second Ctrl-C, or some patience, ends the
    process at once. Nothing is lost by that: the next run mends what was left open.
    """
    received: dict[str, Any] = {}
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def leave() -> None:
        with contextlib.suppress(OSError, ValueError):
            show_cursor = "\x1b[?25h" if terminal.isatty() else ""
            text = f"{show_cursor}\nStopped. The same command goes on from there."
            print(text, file=terminal, flush=True)
        os._exit(128 + received["signal"])

    def handle(number: int, frame: FrameType | None) -> None:
        if received:
            leave()
        received["signal"] = number
        timer = threading.Timer(_PATIENCE_SECONDS, leave)
        timer.daemon = True
        received["timer"] = timer
        timer.start()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        if "timer" in received:
            received["timer"].cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.stdout.flush()
