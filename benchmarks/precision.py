"""Training the shipped English-German recipe in several precisions, a batch in each by turns.

    .venv/bin/python benchmarks/precision.py path/to/multi30k
    .venv/bin/python benchmarks/precision.py path/to/multi30k --of float32 mixed_bfloat16

Real target tokens a second of `multi30k-en-de`, its model and its batches: by the clock, and by the
processor's own time, which other work on the machine disturbs less; medians over the batches. The
subwords are not those that a run of the recipe learns, but as many.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from comparison import SPEC, prepare

from pairloom.components.trainer.batches import Pairs
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.precision import precision_of
from pairloom.components.trainer.run import build_model
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain

RECIPE = "multi30k-en-de"
NOT_COUNTED = 5


def main() -> None:
    """Prints a Markdown table: a row a precision, medians over the rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--of", nargs="+", default=["float32", "auto", "mixed_bfloat16"])
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe = load_recipe(RECIPE)
        prepare(args.data, folder, recipe.vocabularies["joint"].size)
        loops = [make_loop(recipe, folder, precision) for precision in args.of]
        print_table(args.of, *take_turns(loops, args.steps))


def make_loop(recipe, folder: Path, precision: str) -> TrainingLoop:
    """The recipe's training, not begun."""
    chosen = precision_of(precision)
    print(chosen.words, flush=True)
    keras.config.set_dtype_policy(chosen.policy)
    keras.utils.set_random_seed(recipe.training.seed)
    learned = (folder / "joint.model").read_bytes()
    source, target = (Graph(name, {}, learned) for name in ("source", "target"))
    output = Output(target, {})
    model = build_model(plain(recipe.model), {"source": source}, target)
    settings = TrainingSettings.from_mapping({**plain(recipe.training), "precision": precision})
    train, held_out = (
        Pairs([str(folder / f"{split}.gz")], SPEC, {"source": source}, target, output.column)
        for split in ("train", "eval")
    )
    return TrainingLoop(model, output, settings, train, held_out, str(folder / precision))


def take_turns(loops: list[TrainingLoop], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A step of each on one batch after another.

    Returns:
        The batches' tokens, and `(batches, loops, 2)`: seconds by the clock, and of CPU time.
    """
    tokens, seconds = [], []
    for number, (inputs, target) in enumerate(loops[0]._batches(0).take(steps + NOT_COUNTED)):
        taken = []
        for loop in loops:
            began = time.perf_counter(), time.process_time()
            count = float(loop._train_step(inputs, target)[1])
            taken.append((time.perf_counter() - began[0], time.process_time() - began[1]))
        if number >= NOT_COUNTED:
            tokens.append(count)
            seconds.append(taken)
    return np.array(tokens), np.array(seconds)


def print_table(names: list[str], tokens: np.ndarray, seconds: np.ndarray) -> None:
    """Medians over the batches, of the rates and of how many times the first one's each is."""
    rates = np.median(tokens[:, None, None] / seconds, axis=0)
    ratios = np.median(seconds[:, :1] / seconds, axis=0)
    print("| precision | tokens/s | ratio | tokens a CPU second | ratio |\n|---|---|---|---|---|")
    for name, rate, ratio in zip(names, rates, ratios):
        cells = [f"{figure:,.0f} | {times:.2f}" for figure, times in zip(rate, ratio)]
        print(f"| `{name}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
