"""What needs no training: the figures that a trained model must stand beside.

    .venv/bin/python benchmarks/baselines.py lead SCITLDR            # beside summarise
    .venv/bin/python benchmarks/baselines.py pca                     # beside reconstruct, denoise
    .venv/bin/python benchmarks/baselines.py majority MOVIE_REVIEWS  # beside classify-document
    .venv/bin/python benchmarks/baselines.py blind FLICKR8K          # beside caption

Rows, splits and references are those of the recipes, the scores our own metrics.
"""

import argparse
import json
import os
import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from folds import FOLDS, wanted_run
from recipe_runs import markdown

from pairloom.components.metrics import corpus_score, get_metric
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair
from pairloom.components.pairs.settings import PairSettings
from pairloom.pipeline.recipe import Recipe, load_recipe
from pairloom.pipeline.settings_text import plain

ROUGE = ("rouge_1", "rouge_2", "rouge_l")
BLEU = ("bleu_1", "bleu_2", "bleu_3", "bleu", "rouge_l")


def main() -> None:
    """Prints the table that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    kinds = parser.add_subparsers(dest="baseline", required=True)
    lead = kinds.add_parser("lead", help="the first sentence of an abstract as its summary")
    lead.add_argument("folder", type=Path, help="SciTLDR")
    kinds.add_parser("pca", help="principal components, and the noise itself")
    majority = kinds.add_parser("majority", help="the most frequent label of the train split")
    majority.add_argument("folder", type=Path, help="movie reviews")
    blind = kinds.add_parser("blind", help="the one caption that fits all photos best")
    blind.add_argument("folder", type=Path, help="Flickr8k")
    args = parser.parse_args()
    if args.baseline == "lead":
        print(lead_table(args.folder))
    elif args.baseline == "pca":
        print(pca_table())
    elif args.baseline == "blind":
        print(blind_table(args.folder))
    else:
        print(majority_table(args.folder))


def rows_by_split(recipe: Recipe) -> dict[str, list[tuple[Any, ...]]]:
    """The good rows of a recipe's data, as PairExamples reads them."""
    sections = plain(recipe.data), plain(recipe.fields)
    settings = PairSettings.from_sections(*sections, recipe.output, recipe.reads)
    splits: dict[str, list[tuple[Any, ...]]] = {}
    for chunk in plan_chunks(settings):
        for row in read_pairs(chunk, settings):
            if isinstance(row, Pair):
                splits.setdefault(row.split, []).append(row.values)
    return splits


def lead_table(folder: Path) -> str:
    """ROUGE of the first sentence, and of whichever is best, on `summarise`'s test split."""
    recipe = load_recipe("summarise", [f"data.folder={folder.resolve()}"])
    # As the Evaluator does it: rows of equal inputs are one with several references.
    references: dict[tuple[str, ...], list[str]] = {}
    for abstract, summary in rows_by_split(recipe)["test"]:
        references.setdefault(tuple(abstract), []).append(summary)
    right = list(references.values())
    first = [abstract[0] for abstract in references]
    head = f"{len(first):,} abstracts, {sum(map(len, right)):,} summaries"
    lead = [corpus_score(metric, first, right) for metric in ROUGE]
    best = [corpus_score(metric, best_sentences(references, metric), right) for metric in ROUGE]
    named = {"first sentence": lead, "best sentence, of each score": best}
    lines = [[name, *(f"{score:.2f}" for score in scores)] for name, scores in named.items()]
    return markdown([[head, *ROUGE], *lines])


def best_sentences(references: Mapping[Any, list[str]], metric: str) -> list[str]:
    """Of each abstract the sentence that scores best against its references."""
    score = get_metric(metric)

    def best(abstract: tuple[str, ...], right: list[str]) -> str:
        return max(abstract, key=lambda sentence: score.counts(sentence, right)[0])

    return [best(abstract, right) for abstract, right in references.items()]


def pca_table() -> str:
    """Mean squared errors on the test splits of `reconstruct` and `denoise`."""
    recipe = load_recipe("reconstruct")
    splits = {name: pixels(rows) for name, rows in rows_by_split(recipe).items()}
    units = recipe.model.encoders["pixels"].units
    restored = principal_components(splits["train"], splits["test"], units)
    recipe = load_recipe("denoise")
    clean = pixels(rows_by_split(recipe)["test"])
    noisy = corrupted(clean, plain(recipe.fields["pixels"]))
    figures = {
        f"{units} principal components": (restored, splits["test"]),
        "the noise itself": (noisy, clean),
        "the same, cut to between 0 and 1": (np.clip(noisy, 0, 1), clean),
    }
    lines = [(f"{len(clean):,} pictures", "mse")]
    for name, (answers, right) in figures.items():
        lines.append((name, f"{corpus_score('mse', list(answers), list(right)):.5f}"))
    return markdown(lines)


def pixels(rows: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """`(pictures, 64)`."""
    return np.array([row[0] for row in rows])


def principal_components(train: np.ndarray, test: np.ndarray, count: int) -> np.ndarray:
    """The test rows, projected on the first components of the train rows and back."""
    mean = train.mean(axis=0)
    components = np.linalg.svd(train - mean, full_matrices=False)[2][:count]
    return mean + (test - mean) @ components.T @ components


def blind_table(folder: Path) -> str:
    """BLEU of one caption for all photos: who does not see them can say nothing better.

    Of 3,000 captions of the train split the twenty that are best on a hundred photos of the dev
    split, and of these the best on all of it.
    """
    # The photos themselves are not looked at.
    names = ["fields.photo={kind: text}", "model.encoder={type: tokens}"]
    settings = [f"data.folder={folder.resolve()}", *names]
    splits = rows_by_split(load_recipe("caption", settings))
    dev, test = (list(_references(splits[name]).values()) for name in ("eval", "test"))
    captions = sorted({caption for _, caption in splits["train"]})
    best = random.Random(1).sample(captions, 3000)
    for photos, kept in ((100, 20), (len(dev), 1)):
        scores = {one: corpus_score("bleu", [one] * photos, dev[:photos]) for one in best}
        best = sorted(best, key=lambda one: -scores[one])[:kept]
    lines = [("caption", *BLEU)]
    found = [corpus_score(metric, best * len(test), test) for metric in BLEU]
    return markdown([*lines, (best[0], *(f"{score:.1f}" for score in found))])


def _references(rows: Sequence[tuple[Any, ...]]) -> dict[str, list[str]]:
    """Photo to its captions."""
    found: dict[str, list[str]] = {}
    for photo, caption in rows:
        found.setdefault(photo, []).append(caption)
    return found


def corrupted(clean: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """The rows as a model is given them in evaluation."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from pairloom.kinds.numbers.graph import Graph

    # Of what is learned the width alone counts: the recipe does not standardize.
    zeros = [0.0] * clean.shape[1]
    learned = json.dumps({"mean": zeros, "deviation": zeros}).encode()
    spoiled = Graph("pixels", options, learned).corrupted(clean.astype(np.float32))
    return np.asarray(spoiled)


def majority_table(folder: Path) -> str:
    """Accuracy of the train split's most frequent label, by fold."""
    lines = [("fold", "label", "accuracy")]
    accuracies = []
    for fold in range(FOLDS):
        wanted = wanted_run(folder, fold, "HAN")
        splits = rows_by_split(load_recipe(wanted.recipe, wanted.settings))
        label = Counter(verdict for _, verdict in splits["train"]).most_common(1)[0][0]
        right = [verdict for _, verdict in splits["test"]]
        accuracies.append(corpus_score("accuracy", [label] * len(right), right))
        lines.append((str(fold), label, f"{accuracies[-1]:.1f}"))
    lines.append(("mean", "", f"{statistics.mean(accuracies):.1f}"))
    return markdown(lines)


if __name__ == "__main__":
    main()
