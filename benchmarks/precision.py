"""Training the shipped English-German recipe in several precisions, turn by turn in one process.

    .venv/bin/python benchmarks/precision.py path/to/multi30k
    .venv/bin/python benchmarks/precision.py path/to/multi30k --of float32 mixed_bfloat16

Real target tokens a second of `multi30k-en-de`, its model and its batches: by the clock, and by the
processor's own time, which other work on the machine disturbs less. The subwords are not those that
a run of the recipe learns, but as many.
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
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe = load_recipe(RECIPE)
        prepare(args.data, folder, recipe.vocabularies["joint"].size)
        loops = {precision: make_loop(recipe, folder, precision) for precision in args.of}
        rounds = []
        for number in range(args.rounds):
            rounds.append([training_speed(loop, args.steps) for loop in loops.values()])
            told = ", ".join(f"{x[0]:,.0f} ({x[1]:,.0f})" for x in rounds[-1])
            print(f"round {number + 1}, tokens/s by the clock (by CPU time): {told}", flush=True)
    print_table(args.of, np.array(rounds))


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


def training_speed(loop: TrainingLoop, steps: int) -> tuple[float, float]:
    """Real target tokens a second by the clock, and by CPU time."""
    tokens = seconds = cpu = 0.0
    for number, (inputs, target) in enumerate(loop._batches(0).take(steps + NOT_COUNTED)):
        began = time.perf_counter(), time.process_time()
        count = float(loop._train_step(inputs, target)[1])
        if number >= NOT_COUNTED:
            seconds += time.perf_counter() - began[0]
            cpu += time.process_time() - began[1]
            tokens += count
    return tokens / seconds, tokens / cpu


def print_table(names: list[str], rounds: np.ndarray) -> None:
    """Medians of `(rounds, precisions, 2)`, and how many times the first one's each is."""
    print("\n| precision | tokens/s | ratio | tokens a CPU second | ratio |\n|---|---|---|---|---|")
    ratios = np.median(rounds / rounds[:, :1], axis=0)
    for name, middle, ratio in zip(names, np.median(rounds, axis=0), ratios):
        cells = [f"{figure:,.0f} | {times:.2f}" for figure, times in zip(middle, ratio)]
        print(f"| `{name}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
