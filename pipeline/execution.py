"""One run of a recipe, from the lock to the last node, as a user sees it."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console

from pairloom.components.pairs.check import check_pairs
from pairloom.pipeline import quiet, records
from pairloom.pipeline.display import NodeDisplay
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.places import Places
from pairloom.pipeline.recipe import Recipe, require_data_folder
from pairloom.pipeline.run_folder import RunFolder, shown_path
from pairloom.pipeline.run_log import RunLog
from pairloom.pipeline.settings_text import plain
from pairloom.pipeline.stopping import Interrupted, stoppable

if TYPE_CHECKING:
    from pairloom.pipeline.runner import NodeEvent

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


Build = Callable[[Recipe, Places], Any]


def execute(
    recipe: Recipe,
    runs_dir: str | Path,
    verbose: bool = False,
    build: Build | None = None,
    start: str = "",
    end: str = "",
) -> FinishedRun:
    """Runs a recipe's pipeline, showing each node.

    Args:
        recipe: As `load_recipe` returns it.
        runs_dir: The run's folder is made in there.
        verbose: Let the libraries log to the terminal.
        build: Makes the TFX pipeline; None is `pairloom.pipeline.graph.build_pipeline`.
        start: The first node that runs; what it needs is the last run's. Empty: the first there is.
        end: The last node that runs; empty: the last there is.

    Raises:
        UserError: the recipe, its data, the folder or a node is at fault.
        Interrupted: after Ctrl-C or SIGTERM; the same call goes on from there.
    """
    quiet.hush_environment()
    quiet.keep_off_cloud(repr(recipe))
    look_at_data(recipe)
    folder = RunFolder.of(runs_dir, recipe.name)
    folder.make()
    folder.settle(**plain(recipe.places))
    run_id = records.new_run_id()
    with folder.locked() as before:
        records.mend(folder, before)
        folder.note_run(run_id)
        log = RunLog(folder.logs / f"{run_id}.log")
        with (
            log,
            quiet.output_to(log.libraries, verbose) as terminal,
            stoppable(terminal) as stop,
        ):
            try:
                _run_pipeline(recipe, folder, run_id, terminal, build, (start, end), log)
            except UserError as error:
                log.tell(str(error))
                raise UserError(f"{error}\n  log: {shown_path(log.path)}") from error
            except KeyboardInterrupt:
                log.tell("stopped")
                records.mend(folder, run_id)
                raise Interrupted(
                    "Stopped. The same command goes on from there; finished nodes are kept.",
                    128 + stop.get("signal", signal.SIGINT),
                ) from None
    return FinishedRun(run_id, folder, log.path)


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
    recipe: Recipe,
    folder: RunFolder,
    run_id: str,
    terminal: TextIO,
    build: Build | None,
    part: tuple[str, str],
    log: RunLog,
) -> None:
    title = f"{recipe.name} → {shown_path(folder.path)}"
    log.tell(f"run {run_id} of {recipe.file}")
    with NodeDisplay(terminal_console(terminal), title, log.tell) as display:
        from pairloom.components.trainer.devices import reserve_devices
        from pairloom.pipeline import compiled, runner
        from pairloom.pipeline.part import keep_part

        # Now: the first node that uses TensorFlow fixes its devices for the whole process.
        reserve_devices(recipe.training.devices)
        if build is None:
            from pairloom.pipeline.graph import build_pipeline

            build = build_pipeline
        pipeline = compiled.compile_pipeline(build(recipe, folder.places), folder.places.metadata)
        display.expect(pipeline.nodes)
        with _listening(display) if "Trainer" in pipeline.nodes else contextlib.nullcontext():
            ir = pipeline.for_run(run_id)
            keep_part(ir, *part)
            runner.run_nodes(ir, _observing(display, recipe, folder))


def _observing(
    display: NodeDisplay, recipe: Recipe, folder: RunFolder
) -> "Callable[[NodeEvent], None]":
    """Shows every event, and behind a training what cut it short."""
    from pairloom.pipeline.training_end import why_training_ended

    def observe(event: "NodeEvent") -> None:
        display.observe(event)
        ended = event.node == "Trainer" and event.state == "done"
        told = (folder.checkpoints, recipe.training, recipe.model.ensemble)
        if ended and (words := why_training_ended(*told)):
            display.remark(words)

    return observe


@contextlib.contextmanager
def _listening(display: NodeDisplay) -> Iterator[None]:
    """Lets the trainer draw its progress on the display, and the resolver remark on it."""
    from pairloom.components.trainer import progress
    from pairloom.pipeline import baseline

    progress.listener = display.train
    progress.remarks = baseline.listener = display.remark
    try:
        yield
    finally:
        progress.listener = progress.remarks = baseline.listener = None
