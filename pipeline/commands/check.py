"""`pairloom check RECIPE`: the recipe and its data, without training, without TensorFlow."""

import argparse
import shlex
from datetime import date

from pairloom.components.pairs.check import check_pairs, count_left_out
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.overlap import overlap_told
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.summary import PairsSummary, judge
from pairloom.pipeline.commands.arguments import add_recipe_arguments
from pairloom.pipeline.commands.notes import print_notes
from pairloom.pipeline.dates import dated_recipe
from pairloom.pipeline.recipe import Recipe, load_recipe, require_data_folder
from pairloom.pipeline.run_folder import shown_path
from pairloom.pipeline.settings_text import plain

# An answer within seconds, whatever the size of the data.
_ROWS = 25_000
_SAMPLES = 3
_REASONS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add_recipe_arguments(parser)
    parser.add_argument(
        "--rows",
        type=int,
        default=_ROWS,
        metavar="N",
        help=f"look at N rows of each file, from everywhere in it (default {_ROWS}; 0: all)",
    )


def run(args: argparse.Namespace) -> int:
    """Prints what a run would find; ends with 1 where a run would fail."""
    recipe = load_recipe(args.recipe, args.overrides)
    print(f"{shown_path(recipe.file)}: the recipe is valid.")
    print_notes(recipe)
    require_data_folder(recipe)
    # Where paths hold a date, the data of today.
    recipe = dated_recipe(recipe, date.today())
    data, fields = plain(recipe.data), plain(recipe.fields)
    summary = check_pairs(
        data, fields, recipe.output, at_most=args.rows, strict=False, inputs=recipe.inputs
    )
    settings = PairSettings.from_sections(data, fields, recipe.output, recipe.inputs)
    print_counts(summary)
    print_overlap(summary, settings, args.rows)
    print_samples(summary, recipe)
    try:
        judge(summary, settings)
    except DataError as error:
        print(f"\nA run would fail: {error}")
        return 1
    sets = (word for override in args.overrides for word in ("--set", override))
    print(f"\nNext: {shlex.join(['pairloom', 'run', args.recipe, *sets])}")
    return 0


def print_counts(summary: PairsSummary) -> None:
    """Pairs by split, rejected rows by reason, with the first places to look."""
    counts = ", ".join(f"{split} {summary.splits[split]:,}" for split in ("train", "eval", "test"))
    looked_at = summary.good + summary.rejected + summary.left_out
    partly = "" if summary.complete else f" in the {looked_at:,} rows looked at (--rows 0: all)"
    print(f"{summary.good:,} pairs{partly}: {counts}.")
    for file in summary.cut_off:
        print(f"{shown_path(file)} has rows beyond those among which some were looked at.")
    if summary.left_out:
        print(
            f"{summary.left_out:,} train rows are left out: the eval or test files have them too."
        )
    if not summary.rejected:
        print("No row is rejected.")
        return
    print(f"{summary.rejected:,} rows are rejected ({summary.share:.2%}):")
    for reason, count in summary.reasons.most_common(_REASONS):
        print(f"  {count:>7,}  {reason}")
    for row in summary.rejections[:_SAMPLES]:
        print(f"  {shown_path(row.file)}:{row.line}: {row.reason}: {row.text[:60]!r}")


def print_overlap(summary: PairsSummary, settings: PairSettings, rows: int) -> None:
    """Test pairs that are trained on, and what can be done about it."""
    told = overlap_told(summary)
    if not told:
        return
    print(f"{told[0].upper()}{told[1:]}.")
    if settings.disjoint:
        return
    left_out = count_left_out(settings, rows)
    asked = settings.fields[settings.split_by]
    if left_out:
        print(
            f"  `data.disjoint: true` would leave {left_out:,} rows out of train, whose {asked} "
            "is in the eval or test files."
        )
    else:
        print(f"  `data.disjoint: true` would change nothing: it looks for an equal {asked}.")


def print_samples(summary: PairsSummary, recipe: Recipe) -> None:
    """A few pairs, so that a swapped column is seen before a night of training."""
    if not summary.examples:
        return
    print("The first pairs:")
    width = max(map(len, recipe.fields))
    for pair in summary.examples[:_SAMPLES]:
        for name, text in pair.items():
            shown = text if len(text) <= 90 else text[:89] + "…"
            print(f"  {name:<{width}}  {shown}")
        print()
