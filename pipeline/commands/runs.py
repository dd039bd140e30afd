"""`pairloom runs`: past runs and their scores, from ML Metadata."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pairloom.pipeline.display import short_time
from pairloom.pipeline.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="only the runs of this recipe")
    parser.add_argument("--runs-dir", default="runs", help="where runs are kept (default: runs)")


def run(args: argparse.Namespace) -> int:
    """Prints a table, the latest run last."""
    found = find_run_folders(args.runs_dir, args.name)
    if not found:
        where = f"{args.runs_dir}/{args.name}" if args.name else args.runs_dir
        print(f"No runs under {where} yet. Start one with: pairloom run RECIPE")
        return 0
    from pairloom.pipeline.records import list_runs

    table = Table(box=None, pad_edge=False)
    for column in ("recipe", "started", "took", "state", "scores", "blessed", "pushed"):
        table.add_column(column)
    for folder in found:
        for record in list_runs(folder):
            scores = ", ".join(f"{name} {value:.1f}" for name, value in record.scores.items())
            blessed = {None: "", True: "yes", False: "no"}[record.blessed]
            state = record.state + (f" at {record.failed_node}" if record.failed_node else "")
            started = f"{record.started:%Y-%m-%d %H:%M}"
            took = short_time(record.seconds)
            table.add_row(folder.name, started, took, state, scores, blessed, record.pushed)
    Console(width=None if Console().is_terminal else 160).print(table)
    return 0


def find_run_folders(runs_dir: str, name: str | None = None) -> list[RunFolder]:
    """The run folders with a metadata database, by name."""
    root = Path(runs_dir)
    names = [name] if name else sorted(p.name for p in root.glob("*")) if root.is_dir() else []
    folders = [RunFolder.of(root, one) for one in names]
    return [folder for folder in folders if folder.metadata.exists()]
