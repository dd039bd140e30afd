"""Recipes run one after another, as `pairloom run` does it, for a table of docs/results.md.

What `pairloom runs NAME --json` lists as done with the same settings is not run again. So a
benchmark can be stopped at any time, by Ctrl-C or by SIGTERM, and goes on from there.
"""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pairloom.pipeline.commands.arguments import add_override_argument, add_runs_dir_argument
from pairloom.pipeline.recipe import Recipe, RecipeError, load_recipe
from pairloom.pipeline.settings_text import told_recipe

Key = TypeVar("Key", bound=Hashable)

PAIRLOOM = str(Path(sys.executable).with_name("pairloom"))
NOTHING = "–"
"""What a table shows of a run that is not done."""


@dataclass(frozen=True)
class Wanted:
    """A run that a table needs.

    Args:
        title: What the terminal calls it.
        recipe: Name of a recipe that comes along, or the path of another.
        overrides: `key=value` each; the last of a key counts.
    """

    title: str
    recipe: str
    overrides: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """All that `--set` is given."""
        # Under one name TFX's cache keeps what all runs share, the data above all. It is a name of
        # its own, so that nobody's pushed model is replaced; and runs that are to be compared must
        # not be judged by one another.
        name = f"name=benchmark-{Path(self.recipe).stem}"
        return (name, "evaluation.compare=null", *self.overrides)


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """--runs-dir and --set, as `pairloom run` has them."""
    add_runs_dir_argument(parser)
    add_override_argument(parser)


def run_missing(wanted: Mapping[Key, Wanted], runs_dir: str) -> dict[Key, dict[str, Any]]:
    """Runs what is not done yet.

    Args:
        wanted: The runs, in the order in which they are made.
        runs_dir: Where runs are kept.

    Returns:
        Those that are done, as `pairloom runs --json` tells them. One that failed, and after
        Ctrl-C all that were still to come, are not among them.
    """
    try:
        recipes = {key: load_recipe(one.recipe, one.settings) for key, one in wanted.items()}
    except RecipeError as error:
        raise SystemExit(str(error)) from None
    listed = {name: list_runs(name, runs_dir) for name in {one.name for one in recipes.values()}}
    finished = {key: same_settings(listed[one.name], one) for key, one in recipes.items()}
    found = {key: run for key, run in finished.items() if run}
    missing = [key for key in wanted if key not in found]
    print(f"{len(found)} of {len(wanted)} runs are done", flush=True)
    try:
        for number, key in enumerate(missing, 1):
            print(f"\n[{number} of {len(missing)}] {wanted[key].title}", flush=True)
            _run(wanted[key], runs_dir)
            name = recipes[key].name
            if done := same_settings(list_runs(name, runs_dir), recipes[key]):
                found[key] = done
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from there.", flush=True)
    return found


def same_settings(runs: Sequence[Mapping[str, Any]], recipe: Recipe) -> dict[str, Any] | None:
    """The newest run of exactly this recipe that is done, of those that `pairloom runs` lists."""
    told = told_recipe(recipe)
    same = [run for run in runs if run["state"] == "done" and run["settings"] == told]
    return dict(same[-1]) if same else None


def list_runs(name: str, runs_dir: str) -> list[dict[str, Any]]:
    """What `pairloom runs NAME --json` lists, oldest first."""
    command = [PAIRLOOM, "runs", name, "--json", "--runs-dir", runs_dir]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return list(json.loads(listed.stdout))


def figure(value: float | None, digits: int = 1) -> str:
    """A figure of a table, or that there is none yet.

    >>> figure(45.04), figure(45.04, 2), figure(None)
    ('45.0', '45.04', '–')
    """
    return NOTHING if value is None else f"{value:,.{digits}f}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table, of which the first row is the head."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


def _run(wanted: Wanted, runs_dir: str) -> None:
    """Runs one, on this terminal; of a failure the run itself tells there."""
    settings = [part for setting in wanted.settings for part in ("--set", setting)]
    command = [PAIRLOOM, "run", wanted.recipe, *settings, "--runs-dir", runs_dir]
    process = subprocess.Popen(command)

    def hand_on(number: int, frame: object) -> None:
        process.send_signal(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, hand_on)
    try:
        process.wait()
    except KeyboardInterrupt:
        # Ctrl-C reached the run too, which puts its folder in order before it ends.
        process.wait()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
