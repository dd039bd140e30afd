"""Every recurrent cell on generated data: how many next tokens each gets right.

    .venv/bin/python benchmarks/cells.py                               # arithmetic, then XML
    .venv/bin/python benchmarks/cells.py xml --only gru mut1           # some cells

Runs the recipes cells-arithmetic and cells-xml once a cell and prints a table of their test splits,
beside the figures of Jozefowicz et al. (2015). Theirs are of other sizes, lengths and amounts of
training, so what can be compared is the order. Runs that are done are not repeated.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recipe_runs import NOTHING, Wanted, add_run_arguments, figure, markdown, run_missing

METRIC = "next_token_accuracy"
CELL_SETTINGS = {
    "arithmetic": ("model.encoder.cell", "model.decoder.cell"),
    "xml": ("model.decoder.cell",),
}


class Row(NamedTuple):
    """A cell: what ours is, what the paper calls it, and its accuracy there in percent."""

    shown: str
    paper: str = NOTHING
    arithmetic: float | None = None
    xml: float | None = None


# The paper's plain LSTM has no forget bias of 1, "LSTM-b" has; with ours it is the other way round,
# and so a gate is removed here from one with that bias.
ROWS = {
    "simple": Row("simple, tanh", "Tanh", 29.5, 32.1),
    "simple_sigmoid": Row("simple, sigmoid"),
    "lstm": Row("LSTM, forget bias 1", "LSTM-b", 90.2, 44.4),
    "lstm_zero_forget_bias": Row("LSTM, forget bias 0", "LSTM", 89.2, 42.5),
    "lstm_without_forget": Row("LSTM without forget gate", "LSTM-f", 29.3, 23.4),
    "lstm_without_input": Row("LSTM without input gate, forget bias 1", "LSTM-i", 75.1, 41.4),
    "lstm_without_output": Row("LSTM without output gate, forget bias 1", "LSTM-o", 86.7, 42.1),
    "gru": Row("GRU", "GRU", 89.6, 46.0),
    "mut1": Row("MUT1", "MUT1", 92.1, 47.5),
    "mut2": Row("MUT2", "MUT2", 89.7, 47.3),
    "mut3": Row("MUT3", "MUT3", 90.7, 46.5),
}


def main() -> int:
    """Prints a table for each data set; ends with 1 where a run is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "data", nargs="?", choices=list(CELL_SETTINGS), help="one of the two (default: both)"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="CELL", choices=list(ROWS), help=", ".join(ROWS)
    )
    add_run_arguments(parser)
    args = parser.parse_args()
    data = [args.data] if args.data else list(CELL_SETTINGS)
    cells = [cell for cell in ROWS if not args.only or cell in args.only]
    runs = {(name, cell): wanted_run(name, cell, args.overrides) for name in data for cell in cells}
    found = run_missing(runs, args.runs_dir)
    for name in data:
        scores = {cell: run["scores"][METRIC] for (of, cell), run in found.items() if of == name}
        print(f"\n{name}, {METRIC} in percent\n\n{table(name, cells, scores)}", flush=True)
    return 0 if len(found) == len(runs) else 1


def wanted_run(data: str, cell: str, overrides: Sequence[str] = ()) -> Wanted:
    """The run of a cell, on every side that the recipe has."""
    settings = [f"{setting}={cell}" for setting in CELL_SETTINGS[data]]
    return Wanted(f"{data}, {ROWS[cell].shown}", f"cells-{data}", (*settings, *overrides))


def table(data: str, cells: Sequence[str], scores: Mapping[str, Any]) -> str:
    """A line a cell, with what was measured and what was published."""
    lines = [("cell", "`cell`", "accuracy", "in the paper", "published")]
    for cell in cells:
        row = ROWS[cell]
        published = {"arithmetic": row.arithmetic, "xml": row.xml}[data]
        figures = figure(scores.get(cell)), row.paper, figure(published)
        lines.append((row.shown, f"`{cell}`", *figures))
    return markdown(lines)


if __name__ == "__main__":
    sys.exit(main())
