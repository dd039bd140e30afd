"""`pairloom runs`: past runs, their scores, settings and reports, from ML Metadata."""

import argparse
import difflib
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pairloom.components.anywhere import exists, is_url, read_bytes
from pairloom.components.report.settings import differences, flat
from pairloom.pipeline.commands.arguments import add_runs_dir_argument
from pairloom.pipeline.display import short_time
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.quiet import hush_environment
from pairloom.pipeline.run_folder import RunFolder, shown_path

if TYPE_CHECKING:
    from pairloom.pipeline.records import RunRecord

Runs = list[tuple[RunFolder, "RunRecord"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="tell of a recipe's newest run, or of one by id"
    )
    parser.add_argument(
        "--diff",
        nargs=2,
        metavar=("RUN", "RUN"),
        help="the settings in which two runs differ: ids, or recipes for their newest runs",
    )
    parser.add_argument("--json", action="store_true", help="the same for programs")
    add_runs_dir_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Prints a table, the latest run last; or one run; or how two differ."""
    if args.diff and args.name:
        raise UserError(
            f"Expected NAME or --diff RUN RUN. Received: both, {args.name} and {args.diff}."
        )
    runs = _all_runs(args.runs_dir)
    if args.diff:
        one, other = (find_run(runs, wanted)[1] for wanted in args.diff)
        _print_difference(one, other, args.json)
        return 0
    is_id = bool(args.name) and any(record.run_id == args.name for _, record in runs)
    named = RunFolder.of(args.runs_dir, args.name).name if args.name else ""
    shown = [
        (folder, record)
        for folder, record in runs
        if not args.name or (record.run_id == args.name if is_id else folder.name == named)
    ]
    if args.json:
        print(json.dumps([plain_run(*one) for one in shown], ensure_ascii=False, indent=1))
        return 0
    if not find_run_folders(args.runs_dir, None if is_id else args.name):
        where = f"{args.runs_dir}/{args.name}" if args.name else args.runs_dir
        print(f"No runs under {where} yet. Start one with: pairloom run RECIPE")
        return 0
    console = Console(width=None if Console().is_terminal else 180)
    console.print(_table(shown))
    if args.name and shown:
        console.print()
        _print_run(console, *shown[-1])
    else:
        _print_reports(console, dict.fromkeys(folder for folder, _ in shown))
    return 0


def find_run_folders(runs_dir: str, name: str | None = None) -> list[RunFolder]:
    """The run folders with a metadata database, by name."""
    root = Path(runs_dir)
    names = [name] if name else sorted(p.name for p in root.glob("*")) if root.is_dir() else []
    folders = [RunFolder.of(root, one) for one in names]
    return [folder for folder in folders if folder.has_metadata]


def find_run(runs: Runs, wanted: str) -> "tuple[RunFolder, RunRecord]":
    """The run with an id, or the newest of a recipe that got to its report.

    Raises:
        UserError: There is none, or its settings are not known.
    """
    found = [one for one in runs if wanted == one[1].run_id]
    found = found or [one for one in runs if wanted == one[0].name and one[1].settings]
    if not found:
        known = dict.fromkeys(name for f, record in runs for name in (f.name, record.run_id))
        near = difflib.get_close_matches(wanted, known, 1)
        raise UserError(
            "Expected a run's id, or a recipe with a run that got to its report; `pairloom runs` "
            f"lists both. Received: {wanted}." + (f" Did you mean {near[0]}?" if near else "")
        )
    if not found[-1][1].settings:
        raise UserError(
            "Expected a run that got to its report, where its settings are kept. "
            f"Received: {wanted}, which is {found[-1][1].state}."
        )
    return found[-1]


def plain_run(folder: RunFolder, record: "RunRecord") -> dict[str, Any]:
    """A run as JSON tells it."""
    return {
        "recipe": folder.name,
        "run": record.run_id,
        "started": record.started.isoformat(),
        "seconds": round(record.seconds, 3),
        "state": record.state,
        "failed_node": record.failed_node,
        "scores": _plain_scores(record),
        "blessed": record.blessed,
        "pushed": record.pushed,
        "data": record.data,
        "report": record.report,
        "overrides": record.overrides,
        "settings": record.settings,
    }


def _all_runs(runs_dir: str) -> Runs:
    folders = find_run_folders(runs_dir)
    if not folders:
        return []
    # Where artifacts lie at a URL, TensorFlow reads them.
    hush_environment()
    from pairloom.pipeline.records import list_runs

    runs = [(folder, record) for folder in folders for record in list_runs(folder)]
    return sorted(runs, key=lambda one: (one[1].started, one[1].run_id))


def _table(runs: Runs) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("recipe", "run", "started", "took", "state", "scores", "blessed", "pushed"):
        # An id is there to be copied.
        table.add_column(column, no_wrap=column == "run")
    for folder, record in runs:
        state = record.state + (f" at {record.failed_node}" if record.failed_node else "")
        table.add_row(
            folder.name,
            record.run_id,
            f"{record.started:%Y-%m-%d %H:%M}",
            short_time(record.seconds),
            state,
            _shown_scores(record),
            {None: "", True: "yes", False: "no"}[record.blessed],
            record.pushed,
        )
    return table


def _print_reports(console: Console, folders: dict[RunFolder, None]) -> None:
    reports = [folder for folder in folders if exists(folder.report)]
    if reports:
        console.print()
    for folder in reports:
        _line(console, f"report of {folder.name}", _link(folder.report))


def _print_run(console: Console, folder: RunFolder, record: "RunRecord") -> None:
    """Data, scores, report and settings of one run."""
    _line(console, "run", record.run_id)
    data = ", ".join(f"{name} {count:,}" for name, count in record.data.items())
    _line(console, "pairs", data or "unknown")
    _line(console, "scores", _shown_scores(record) or "none")
    report = _link(_shortest(folder, record.report)) if record.report else "none"
    _line(console, "report", report)
    if not record.settings:
        _line(console, "settings", "unknown: the run did not get to its report")
        return
    if record.overrides:
        console.print("other than in the recipe's file", style="bold")
        for name, value in record.overrides.items():
            _line(console, f"  {name}", _shown(value), style="")
    console.print("settings", style="bold")
    for name, value in flat(record.settings).items():
        _line(console, f"  {name}", _shown(value), style="")


def _shortest(folder: RunFolder, report: str) -> str:
    """Where people look for a report, where it is still this one that they find there."""
    same = exists(folder.report) and read_bytes(folder.report) == read_bytes(report)
    return folder.report if same else report


def _print_difference(one: "RunRecord", other: "RunRecord", as_json: bool) -> None:
    changed = differences(one.settings, other.settings)
    if as_json:
        told = {
            "runs": [one.run_id, other.run_id],
            "settings": {name: list(pair) for name, pair in changed.items()},
            "scores": [_plain_scores(one), _plain_scores(other)],
        }
        print(json.dumps(told, ensure_ascii=False, indent=1))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("setting", one.run_id, other.run_id):
        table.add_column(column, overflow="fold")
    for name, pair in changed.items():
        table.add_row(name, *(Text(_shown(value)) for value in pair))
    if not changed:
        table.add_row("all settings are the same", "", "")
    for name in dict.fromkeys([*one.scores, *other.scores]):
        figures = [_figure(r.scores[name]) if name in r.scores else "" for r in (one, other)]
        table.add_row(name, *figures, style="dim")
    Console(width=None if Console().is_terminal else 160).print(table)


def _line(console: Console, name: str, value: str | Text, style: str = "bold") -> None:
    told = Text.assemble((f"{name}  ", style or "dim"), value)
    console.print(told, soft_wrap=True, highlight=False)


def _link(path: str) -> Text:
    """A path that terminals open at a click."""
    address = path if is_url(path) else Path(path).resolve().as_uri()
    return Text(shown_path(path), style=f"link {address}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown_scores(record: "RunRecord") -> str:
    return ", ".join(f"{name} {_figure(value)}" for name, value in record.scores.items())


def _figure(score: float) -> str:
    return f"{score:.1f}" if abs(score) >= 1 or score == 0 else f"{score:.3g}"


def _plain_scores(record: "RunRecord") -> dict[str, float | None]:
    """JSON knows no number that is not finite."""
    return {name: v if math.isfinite(v) else None for name, v in record.scores.items()}
