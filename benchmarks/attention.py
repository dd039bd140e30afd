"""Every score, mode and decoder style of attention on one slice of cmudict, for as many steps each.

    .venv/bin/python benchmarks/attention.py                             # about two minutes a run
    .venv/bin/python benchmarks/attention.py --only base dot hard        # some variants

Runs the recipe cmudict once a variant, small enough for one core, and prints a table of the test
split. All have the same data, epochs, batches and seed, and differ from the base (additive score,
soft, luong with input feeding) in the settings that the table shows, mostly one. Ids are those of
docs/recipes.md. Runs that are done are not repeated.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recipe_runs import NOTHING, Wanted, add_run_arguments, figure, markdown, run_missing
from trainings import Training, training_of

from pairloom.pipeline.display import short_time
from pairloom.pipeline.quiet import hush_environment

RECIPE = "cmudict"
METRICS = {
    "phoneme error rate": "phoneme_error_rate",
    "word error rate": "word_error_rate",
    "BLEU": "bleu",
}
# Encoder and decoder have equal units, as dot and cosine need, and a multiple of multi_head's four
# heads. Epochs end a training, not minutes, so that a slow variant learns as much. Even what misses
# the recipe's threshold is a row.
BASE = (
    "data.options.limit=24000",
    "data.split={eval: 0.02, test: 0.1}",
    "model.encoder.units=128",
    "model.decoder.units=128",
    "training.epochs=6",
    "training.minutes=0",
    "training.batch_tokens=1024",
    "evaluation.thresholds={}",
)
# The second one has the weights of the first: right behind it, it need not train them again.
VARIANTS: dict[str, tuple[str, ...]] = {
    "base": (),
    "coverage_penalty": ("search.coverage_penalty=0.2",),
    "dot": ("model.decoder.score=dot",),
    "general": ("model.decoder.score=general",),
    "scaled_dot": ("model.decoder.score=scaled_dot",),
    "cosine": ("model.decoder.score=cosine",),
    "location": ("model.decoder.score=location",),
    "hard": ("model.decoder.mode=hard",),
    "straight_through": ("model.decoder.mode=straight_through",),
    # The default window, ten to each side, would hold nearly every word.
    "local_m": ("model.decoder.mode=local_m", "model.decoder.window=3"),
    "local_p": ("model.decoder.mode=local_p", "model.decoder.window=3"),
    "multi_head": ("model.decoder.mode=multi_head",),
    # Reads one way only; the same with a plain LSTM is what it is to be compared with.
    "lstmn": ("model.encoder.cell=lstmn", "model.encoder.bidirectional=false"),
    "lstm": ("model.encoder.cell=lstm", "model.encoder.bidirectional=false"),
    "transformer": ("model.encoder={type: transformer, units: 128, layers: 2, feed_forward: 256}",),
    "coverage": ("training.coverage=0.3",),
    "luong_unfed": ("model.decoder.input_feeding=false",),
    "bahdanau": ("model.decoder.style=bahdanau",),
    "bahdanau_unfed": ("model.decoder.style=bahdanau", "model.decoder.input_feeding=false"),
    "every_step": ("model.decoder.context=every_step",),
    "state": ("model.decoder.context=state",),
}


class Row(NamedTuple):
    """A line of the table, and the variant whose figures it has."""

    group: str
    id: str
    shown: str
    variant: str


ROWS = (
    Row("score", "S1", "dot", "dot"),
    Row("score", "S2", "general", "general"),
    Row("score", "S3", "additive", "base"),
    Row("score", "S4", "scaled dot product", "scaled_dot"),
    Row("score", "S5", "cosine", "cosine"),
    Row("score", "S6", "location", "location"),
    Row("mode", "M1", "soft", "base"),
    Row("mode", "M2", "hard, REINFORCE", "hard"),
    Row("mode", "M2", "hard, straight-through", "straight_through"),
    Row("mode", "M3", "local-m", "local_m"),
    Row("mode", "M3", "local-p", "local_p"),
    Row("mode", "M4", "multi-head, of the decoder over the word", "multi_head"),
    Row("mode", "M4", "multi-head, of the word over itself", "transformer"),
    Row("mode", "M4", "LSTMN encoder", "lstmn"),
    Row("mode", NOTHING, "LSTM encoder, one way: the LSTMN's control", "lstm"),
    Row("mode", "M7", "coverage in training", "coverage"),
    Row("mode", "M7", "coverage penalty in search", "coverage_penalty"),
    Row("decoder", "C", "luong with input feeding", "base"),
    Row("decoder", "C", "luong without", "luong_unfed"),
    Row("decoder", "C", "bahdanau with input feeding", "bahdanau"),
    Row("decoder", "C", "bahdanau without", "bahdanau_unfed"),
    Row("decoder", "B", "no attention: the last state at every step", "every_step"),
    Row("decoder", "A", "no attention: the last state at the start", "state"),
)


def main() -> int:
    """Prints the table; ends with 1 where a run is missing."""
    hush_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=list(VARIANTS), help=", ".join(VARIANTS)
    )
    add_run_arguments(parser)
    args = parser.parse_args()
    variants = [name for name in VARIANTS if not args.only or name in args.only]
    runs = {name: wanted_run(name, args.overrides) for name in variants}
    found = run_missing(runs, args.runs_dir)
    trainings = {name: training_of(run, args.runs_dir) for name, run in found.items()}
    scores = {name: run["scores"] for name, run in found.items()}
    print(f"\n{table(variants, scores, trainings)}", flush=True)
    return 0 if len(found) == len(runs) else 1


def wanted_run(variant: str, overrides: Sequence[str] = ()) -> Wanted:
    """The run of a variant."""
    return Wanted(variant, RECIPE, (*BASE, *VARIANTS[variant], *overrides))


def table(
    variants: Sequence[str],
    scores: Mapping[str, Mapping[str, Any]],
    trainings: Mapping[str, Training | None],
) -> str:
    """A line a row of these variants, group by group; the base has one in each."""
    head = "group", "id", "what", "set", *METRICS, "weights", "training"
    lines: list[tuple[str, ...]] = [head]
    for row in ROWS:
        if row.variant not in variants:
            continue
        found, training = scores.get(row.variant, {}), trainings.get(row.variant)
        lines.append(
            (
                row.group,
                row.id,
                row.shown,
                ", ".join(f"`{setting}`" for setting in VARIANTS[row.variant]) or "the base",
                *(figure(found.get(metric)) for metric in METRICS.values()),
                f"{training.weights:,}" if training else NOTHING,
                short_time(training.seconds) if training else NOTHING,
            )
        )
    return markdown(lines)


if __name__ == "__main__":
    sys.exit(main())
