"""BLEU by source length of multi30k-long's models, as a table and as a picture.

    .venv/bin/python benchmarks/long_sentences.py "C, attention=multi30k-long" \
        "B, state at every step=long-b" "A, state alone=long-a" "A, source backwards=long-a-back"

Trains nothing: each LABEL=NAME is a run that is there, by its recipe's name (the newest that is
done) or by its id; recipes/multi30k-long.yaml says how to make them. Buckets of few pairs say
little; the table has how many there are.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from recipe_runs import list_runs, markdown

from pairloom.components.evaluator import EvaluationSummary, SliceScores, read_evaluation
from pairloom.pipeline.run_folder import RunFolder
from pairloom.serving.pictures.colors import INK

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "bleu-by-length.png"
# All dark enough on white, and told apart by their marks as well.
STYLES = (("#2f7aee", "o"), ("#d64030", "s"), ("#1a7f4b", "^"), ("#8250b4", "D"), ("#7a6000", "v"))


def main() -> None:
    """Prints the table and draws the picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=labelled, metavar="LABEL=NAME")
    parser.add_argument("--runs-dir", default="runs", help="where runs are kept (default: runs)")
    parser.add_argument("--metric", default="bleu", help="as the recipe shows it (default: bleu)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help=f"(default: {PICTURE})")
    args = parser.parse_args()
    if len(args.runs) > len(STYLES):
        parser.error(f"at most {len(STYLES)} lines can be told apart")
    models = {label: slices(evaluation_of(name, args.runs_dir)) for label, name in args.runs}
    for label, found in models.items():
        if len(found) < 2 or args.metric not in found[-1].scores:
            parser.error(f"{label} was not scored by length, or not with {args.metric}")
    print(table(models, args.metric), flush=True)
    draw(models, args.metric, args.picture)
    print(f"\ndrawn: {args.picture}", flush=True)


def labelled(text: str) -> tuple[str, str]:
    """`C=long-c` as its two parts."""
    label, _, name = text.rpartition("=")
    if not label or not name:
        raise argparse.ArgumentTypeError(f"expected LABEL=NAME. Received: {text!r}")
    return label, name


def evaluation_of(name: str, runs_dir: str) -> EvaluationSummary:
    """What the Evaluator found in the newest run of this name, or in the run with this id."""
    from pairloom.pipeline.records import open_store, outputs_of_run

    done = [run for run in list_runs(name, runs_dir) if run["state"] == "done"]
    if not done:
        raise SystemExit(f"There is no run {name} in {runs_dir} that is done.")
    with open_store(RunFolder.of(runs_dir, done[-1]["recipe"])) as store:
        outputs = outputs_of_run(store, done[-1]["recipe"], done[-1]["run"], "Evaluator")
    return read_evaluation(outputs["evaluation"].uri)


def slices(evaluation: EvaluationSummary) -> list[SliceScores]:
    """The buckets, short to long, and then all pairs."""
    return [*evaluation.by_length, evaluation.overall]


def table(models: Mapping[str, Sequence[SliceScores]], metric: str) -> str:
    """A line a bucket, a column a model.

    Raises:
        SystemExit: The models were not scored on the same pairs.
    """
    first = next(iter(models.values()))
    for label, found in models.items():
        counts = [[(part.label, part.examples) for part in one] for one in (first, found)]
        if counts[0] != counts[1]:
            raise SystemExit(f"Expected runs of one test split: {counts[0]}. {label}: {counts[1]}.")
    lines = [("source subwords", "pairs", *models)]
    for rows in zip(*models.values()):
        figures = (f"{row.scores[metric]:.2f}" for row in rows)
        lines.append((shown_bucket(rows[0].label), f"{rows[0].examples:,}", *figures))
    return markdown(lines)


def shown_bucket(label: str) -> str:
    """A bucket for readers.

    >>> shown_bucket("01-15"), shown_bucket(">60"), shown_bucket("")
    ('1–15', 'over 60', 'all')
    """
    if label.startswith(">"):
        return f"over {label[1:]}"
    return "–".join(part.lstrip("0") for part in label.split("-")) or "all"


def draw(models: Mapping[str, Sequence[SliceScores]], metric: str, path: Path) -> None:
    """One line a model over the buckets, named at its end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    ends = []
    for (_, found), (color, mark) in zip(models.items(), STYLES):
        heights = [part.scores[metric] for part in found if part.label]
        axes.plot(heights, color=color, marker=mark, markersize=5, linewidth=2, clip_on=False)
        ends.append(heights[-1])
    axes.set_ylim(0, None)
    buckets = [part for part in next(iter(models.values())) if part.label]
    last, top = len(buckets) - 1, axes.get_ylim()[1]
    axes.set_xlim(-0.3, last + 0.1)  # the grid ends where the labels begin
    for label, height, (color, _) in zip(models, spread(ends, 0.055 * top), STYLES):
        axes.text(last + 0.15, height, label, color=color, va="center", fontsize=10)
    axes.set_xticks(range(len(buckets)), [shown_bucket(part.label) for part in buckets])
    axes.set_xlabel("source length in subwords", color=INK)
    axes.set_ylabel("BLEU" if metric == "bleu" else metric, color=INK)
    axes.grid(axis="y", color="#d8dee4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)
    # Twice the dots of an ordinary screen.
    figure.savefig(path, dpi=200)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights, the lowest as it is and the others raised until all are a gap apart.

    >>> spread([10.0, 4.0, 5.0], 2.0)
    [10.0, 4.0, 6.0]
    """
    places = sorted(range(len(heights)), key=lambda place: heights[place])
    free, moved = float("-inf"), list(heights)
    for place in places:
        moved[place] = max(heights[place], free)
        free = moved[place] + gap
    return moved


if __name__ == "__main__":
    main()
