"""Ten-fold cross-validation of classify-document: attention (HAN) beside the plain RNN.

    .venv/bin/python benchmarks/folds.py --folder MOVIE_REVIEWS
    .venv/bin/python benchmarks/folds.py --folder MOVIE_REVIEWS --only 0 1 2

Of each fold both models are trained on the other folds but the next one, which chooses the weights,
and scored on the fold itself. Prints the accuracies, their mean and standard deviation over folds,
and the p-value of a two-sided sign-flip test of the paired differences. Runs that are done are not
repeated.
"""

import argparse
import itertools
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from recipe_runs import Wanted, add_run_arguments, figure, markdown, run_missing

FOLDS = 10
METRIC = "accuracy"
MODELS = {
    "HAN": (),
    "plain": ("model.encoder.pooling=last", "model.decoder.context=summary"),
}


def main() -> int:
    """Prints the table; ends with 1 where a run is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="of reviews.jsonl.gz")
    parser.add_argument(
        "--only", nargs="+", type=int, metavar="FOLD", choices=range(FOLDS), help="some folds"
    )
    add_run_arguments(parser)
    args = parser.parse_args()
    folds = sorted(set(args.only or range(FOLDS)))
    # Both models of a fold after one another: whatever is done, most of it is in pairs.
    runs = {
        (fold, model): wanted_run(args.folder, fold, model, args.overrides)
        for fold in folds
        for model in MODELS
    }
    found = run_missing(runs, args.runs_dir)
    scores = {key: run["scores"][METRIC] for key, run in found.items()}
    print(f"\n{table(folds, scores)}\n\n{verdict(paired_differences(scores))}", flush=True)
    return 0 if len(found) == len(runs) else 1


def wanted_run(folder: Path, fold: int, model: str, overrides: Sequence[str] = ()) -> Wanted:
    """The run of a model that is tested on a fold."""
    splits = f"data.fold.test=[{fold}]", f"data.fold.eval=[{(fold + 1) % FOLDS}]"
    settings = f"data.folder={folder.resolve()}", *splits, *MODELS[model]
    return Wanted(f"fold {fold}, {model}", "classify-document", (*settings, *overrides))


def paired_differences(scores: Mapping[tuple[int, str], float]) -> dict[int, float]:
    """By fold, by how much the first model is better, where both are done."""
    first, second = MODELS
    folds = sorted({fold for fold, _ in scores})
    return {
        fold: scores[fold, first] - scores[fold, second]
        for fold in folds
        if (fold, first) in scores and (fold, second) in scores
    }


def table(folds: Sequence[int], scores: Mapping[tuple[int, str], float]) -> str:
    """A line a fold, then mean and standard deviation over what is done."""
    differences = paired_differences(scores)
    columns = [
        *([scores.get((fold, model)) for fold in folds] for model in MODELS),
        [differences.get(fold) for fold in folds],
    ]
    lines = [("fold", *MODELS, "difference")]
    lines += [(str(fold), *map(figure, row)) for fold, row in zip(folds, zip(*columns))]
    done = [[value for value in column if value is not None] for column in columns]
    means = [statistics.mean(column) if column else None for column in done]
    deviations = [statistics.stdev(column) if len(column) > 1 else None for column in done]
    lines += [
        ("mean", *map(figure, means)),
        ("standard deviation", *map(figure, deviations)),
    ]
    return markdown(lines)


def verdict(differences: Mapping[int, float]) -> str:
    """The test in a sentence."""
    if not differences:
        return "No fold has both models yet."
    folds, p = len(differences), sign_flip_p(list(differences.values()))
    return (
        f"Two-sided sign-flip test over {folds} folds: p = {p:.3f} (at least {2 / 2**folds:.3f})."
    )


def sign_flip_p(differences: Sequence[float]) -> float:
    """How often a sum of these differences is as far from 0 if each has either sign alike.

    All 2^n signs are tried, so it is exact: a paired permutation test, two-sided.
    """
    observed = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(flip, differences))) for flip in signs]
    # Sums of the same numbers in another order may differ by rounding.
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)


if __name__ == "__main__":
    sys.exit(main())
