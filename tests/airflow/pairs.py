"""What the Airflows of the tests run: recipes, data, and a command that fails now and then."""

import json
import os
import random
import stat
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pairloom.pipeline.recipe import shipped_recipes

PAIRLOOM = Path(sys.executable).with_name("pairloom")

TODAY = datetime.now(timezone.utc).date()
BY_HAND, *BACKFILLED = (str(TODAY - timedelta(days)) for days in (3, 2, 1))
PAIRS = {BY_HAND: 500, BACKFILLED[0]: 600, BACKFILLED[1]: 700}

WORDS = """
name: words
data: {format: tsv, train: 'pairs-{DATE}.tsv', split: {eval: 0.1, test: 0.1}}
vocabularies: {source: {method: characters, size: 300}, target: {method: characters, size: 300}}
model:
  encoder: {type: tokens, units: 16, embedding_units: 8}
  decoder: {type: recurrent, units: 16, embedding_units: 8}
training: {epochs: 1}
schedule: {cron: '0 0 * * *', start: 2026-01-01, retries: 1, retry_minutes: 0.05}
"""

DEMO_SCHEDULE = """
schedule:
  cron: '0 0 * * *'
  start: 2026-01-01
  retries: 2
  retry_minutes: 0.05
  pool: pairs
  nodes: {Trainer: {timeout_minutes: 5, retries: 5, pool: training}}
"""
# As many steps on every machine, however slow it is.
SLICE = ("data.options.limit=2000", "training.epochs=15", "training.minutes=0")
SLICED = [f"--set={one}" for one in (*SLICE, "training.checkpoint_every=20")]
# A model of so little is below what the demo asks for, and is to be pushed.
SLICED.append("--set=evaluation.thresholds={}")

# Called as `pairloom node FILE NODE --run-id RUN`. A run's first Transform fails. The demo's first
# Trainer stands still after a checkpoint, as on a machine that hangs, until it is told to end.
PAIRLOOM_OF_TASKS = """#!/bin/bash
first() {{ mkdir -p "{folder}/tried" && mkdir "{folder}/tried/$1-$6" 2>/dev/null; }}
if [ "$3" = Transform ] && first Transform "$@"; then echo "no luck" >&2; exit 1; fi
if [ "$3" = Trainer ] && [[ $2 == */cmudict.* ]] && first Trainer "$@"; then
    "{pairloom}" "$@" &
    node=$!
    told=
    trap 'told=yes; kill -CONT $node' TERM
    until [ -n "$(find "{folder}/runs/cmudict/checkpoints" -name '*.index' 2>/dev/null)" ]; do
        kill -0 $node || break
        sleep 0.1
    done
    [ -n "$told" ] || kill -STOP $node
    [ -z "$told" ] || kill -CONT $node
    # The first one ends when the trap has been run.
    wait $node
    wait $node
    exit
fi
exec "{pairloom}" "$@"
"""


def compile_dags(folder: Path, variables: Mapping[str, str]) -> None:
    """Writes recipes and their data into a folder, and `dags` with the DAG of each.

    Args:
        folder: Where the runs will lie, too.
        variables: Environment variables as the tasks will have them.
    """
    draw = random.Random(1)
    for day, count in PAIRS.items():
        words = ["".join(draw.choices("abcdef", k=draw.randint(2, 7))) for _ in range(count)]
        (folder / f"pairs-{day}.tsv").write_text("".join(f"{w}\t{w[::-1]}\n" for w in words))
    (folder / "words.yaml").write_text(WORDS)
    demo = shipped_recipes()["cmudict"].read_text("utf-8")
    (folder / "cmudict.yaml").write_text(demo + DEMO_SCHEDULE)
    # Airflow takes a word that ends so for the file of a template.
    command = folder / "the pairloom.sh"
    command.write_text(PAIRLOOM_OF_TASKS.format(folder=folder, pairloom=PAIRLOOM))
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, **variables}
    for name, settings in {"words": [], "cmudict": SLICED}.items():
        subprocess.run(
            [PAIRLOOM, "compile", "airflow", f"{name}.yaml", *settings, "--pairloom", command],
            cwd=folder,
            env=environment,
            check=True,
        )
    _compile_newer(folder / "dags")


def _compile_newer(dags: Path) -> None:
    """The DAG `newer`, as a pairloom of years to come would write it."""
    held = json.loads((dags / "words.pipeline.json").read_text("utf-8"))
    newer = json.dumps({**held, "made_by": "99.0"})
    (dags / "newer.pipeline.json").write_text(newer, "utf-8")
    text = (dags / "words.py").read_text("utf-8")
    (dags / "newer.py").write_text(text.replace("words", "newer"), "utf-8")


def start_tomorrow(dags: Path) -> None:
    """Makes the DAG `words` due from tomorrow on: else a scheduler would run it for today."""
    file = dags / "words.py"
    day = TODAY + timedelta(1)
    text = file.read_text("utf-8")
    assert "(2026, 1, 1)" in text
    file.write_text(text.replace("(2026, 1, 1)", str((day.year, day.month, day.day))), "utf-8")


def told_runs(folder: Path, name: str, variables: Mapping[str, str]) -> list[dict]:
    """The runs of a recipe as pairloom tells them, oldest first."""
    told = subprocess.run(
        [PAIRLOOM, "runs", name, "--json"],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        check=True,
    )
    return json.loads(told.stdout)


def pushed(folder: Path, name: str) -> list[str]:
    """The versions that a recipe's runs have pushed."""
    return sorted(os.listdir(folder / "runs" / name / "serving" / name))
