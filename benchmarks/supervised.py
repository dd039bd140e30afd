"""Attention that is told where to look (M6) beside the same that is not, where the links are known.

    .venv/bin/python benchmarks/supervised.py
    .venv/bin/python benchmarks/supervised.py --seeds 1 2 3

Writes made-up sentence pairs (made_up_pairs.py) with the links between their words, and a recipe
for them, to a folder; then trains that recipe with `training.supervised.weight` 0 and 0.3. A tenth
of the train split's links are drawn at random, as an aligner errs; the test split's are all right.
Prints how far the attention is from them, and BLEU, beside what the rule of the translation itself
would have. Runs that are done are not repeated.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from made_up_pairs import Pair, make_pairs
from recipe_runs import NOTHING, Wanted, add_run_arguments, figure, markdown, run_missing

FOLDER = Path(tempfile.gettempdir(), "pairloom-supervised")
WEIGHTS = (0.0, 0.3)
WRONG_LINKS = 0.1
# Few pairs: with enough of them attention finds its places untold.
SPLITS = {"train": 3000, "eval": 300, "test": 1000}
METRICS = {"alignment error rate": "alignment_error_rate", "BLEU": "bleu"}
RECIPE = """\
name: supervised
data: {format: tsv, train: train.tsv, eval: eval.tsv, test: test.tsv}
fields:
  source: {kind: text}
  target: {kind: text}
  links: {kind: alignment}
inputs: [source]
output: target
vocabularies:
  source: {method: words, size: 1000}
  target: {method: words, size: 1000}
model:
  encoder: {type: tokens, units: 128, embedding_units: 64, dropout: 0.2}
  decoder: {type: recurrent, units: 128, embedding_units: 64, dropout: 0.2}
training:
  epochs: 15
  batch_tokens: 1024
  learning_rate: 0.003
  warmup_steps: 100
  average: 0.99
  supervised: {field: links, weight: 0.3}
search: {beam: 3, max_length: 60}
evaluation:
  metrics: [bleu, alignment_error_rate]
"""


def main() -> int:
    """Prints the table; ends with 1 where a run is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help=f"for data and recipe; the same one to go on after a stop (default: {FOLDER})",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], help="(default: 1)")
    add_run_arguments(parser)
    args = parser.parse_args()
    recipe = write_data(args.folder)
    runs = {
        (weight, seed): wanted_run(recipe, weight, seed, args.overrides)
        for seed in args.seeds
        for weight in WEIGHTS
    }
    found = run_missing(runs, args.runs_dir)
    scores = {key: run["scores"] for key, run in found.items()}
    print(f"\n{table(args.seeds, scores, rule_scores(split_pairs('test')))}", flush=True)
    return 0 if len(found) == len(runs) else 1


def split_pairs(split: str) -> list[Pair]:
    """The pairs of a split, always the same."""
    wrong = WRONG_LINKS if split == "train" else 0.0
    return make_pairs(SPLITS[split], seed=1 + list(SPLITS).index(split), wrong=wrong)


def write_data(folder: Path) -> Path:
    """Writes all splits and the recipe, and says where the recipe is."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        lines = ["\t".join(pair[:3]) + "\n" for pair in split_pairs(split)]
        (folder / f"{split}.tsv").write_text("".join(lines))
    recipe = folder.resolve() / "supervised.yaml"
    recipe.write_text(RECIPE)
    return recipe


def wanted_run(recipe: Path, weight: float, seed: int, overrides: Sequence[str] = ()) -> Wanted:
    """The run of a weight and a seed."""
    settings = f"training.supervised.weight={weight}", f"training.seed={seed}"
    return Wanted(f"weight {weight}, seed {seed}", str(recipe), (*settings, *overrides))


def rule_scores(pairs: Sequence[Pair]) -> dict[str, float]:
    """What an answer by the rule has: the likelier translation of every word, and all links right.

    A word that stands for nothing gets a link all the same: attention always looks somewhere.
    """
    from pairloom.components.metrics import corpus_score

    found = []
    for pair in pairs:
        linked = {int(link.partition("-")[2]) for link in pair.links.split()}
        # Of a word that the source has not: it is wrong whatever it is.
        nowhere = len(pair.source.split())
        others = set(range(len(pair.target.split()))) - linked
        found.append(" ".join([pair.links, *(f"{nowhere}-{place}" for place in sorted(others))]))
    return {
        "alignment_error_rate": corpus_score(
            "alignment_error_rate", found, [pair.links for pair in pairs]
        ),
        "bleu": corpus_score(
            "bleu", [pair.rule for pair in pairs], [pair.target for pair in pairs]
        ),
    }


def table(
    seeds: Sequence[int],
    scores: Mapping[tuple[float, int], Mapping[str, float]],
    rule: Mapping[str, float],
) -> str:
    """A line a weight and seed, then the rule's."""
    lines = [("`training.supervised.weight`", "seed", *METRICS)]
    for weight in WEIGHTS:
        for seed in seeds:
            figures = (
                figure(scores.get((weight, seed), {}).get(name)) for name in METRICS.values()
            )
            lines.append((f"{weight:g}", str(seed), *figures))
    figures = (figure(rule[name]) for name in METRICS.values())
    lines.append(("the rule itself", NOTHING, *figures))
    return markdown(lines)


if __name__ == "__main__":
    sys.exit(main())
