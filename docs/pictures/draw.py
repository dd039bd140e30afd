"""Trains tiny models on generated data and draws the pictures of docs/layers.md.

    .venv/bin/python docs/pictures/draw.py                # all of them, an hour on two cores
    .venv/bin/python docs/pictures/draw.py scores modes   # some of them

`scores` and `modes` are alignments, `cells` are learning curves, `unit` is a text painted with one
unit's activation; `examples` runs the examples of docs/layers.md and keeps what they draw.
"""

import argparse
import os
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from PIL import Image

from pairloom.models import EncoderDecoder, Recurrence, TokenEncoder, greedy_search
from pairloom.models.cells import GRUCell, make_cell
from pairloom.models.embedding import make_embedding
from pairloom.models.losses import doubly_stochastic, masked_cross_entropy, supervised_attention
from pairloom.serving.pictures import save_activation
from pairloom.serving.pictures.colors import INK
from pairloom.serving.pictures.drawing import draw_lines_between, draw_shades, drawn_figure

FOLDER = Path(__file__).parent
LETTERS = "abcdefghijkl"
FIRST_LETTER, BEGIN, END = 4, 2, 3
UNITS, BATCH = 32, 64


class Panel(NamedTuple):
    """One alignment of a figure."""

    title: str
    weights: np.ndarray
    source: list[str]
    target: list[str]


def main() -> None:
    """Draws the pictures whose names were given, or all."""
    pictures: dict[str, Callable[[], None]] = {
        "scores": draw_scores,
        "modes": draw_modes,
        "cells": draw_cells,
        "unit": draw_unit,
        "examples": draw_examples,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="name", help=" ".join(pictures))
    names = parser.parse_args().names
    if unknown := set(names) - set(pictures):
        parser.error(f"there is no picture {sorted(unknown)}; there are {list(pictures)}")
    for name in names or pictures:
        keras.utils.set_random_seed(1)
        pictures[name]()
        print(f"{name}: drawn", flush=True)


def draw_scores() -> None:
    """The same model with each score, taught to write letters backwards."""
    ids = {"dot": 1, "general": 2, "additive": 3, "scaled_dot": 4, "cosine": 5, "location": 6}
    panels = []
    for score, number in ids.items():
        model = train_pairs(1500, lambda x: x[::-1], score=score)
        panels.append(show(f"S{number}  {score}", model, lambda x: x[::-1]))
    draw_panels("scores", panels, columns=3)


def draw_modes() -> None:
    """The same model with each mode, taught to swap neighbours."""
    coverage = partial(train_pairs, coverage=0.05)
    supervised = partial(train_pairs, supervised=0.5)
    kinds = [
        ("M1  soft", train_pairs, {"mode": "soft"}, 1500),
        ("M7  soft, coverage loss", coverage, {"mode": "soft"}, 1500),
        ("M6  soft, supervised", supervised, {"mode": "soft"}, 1500),
        ("M2  hard, reinforce", train_pairs, {"mode": "hard"}, 3000),
        ("M2  hard, straight-through", train_pairs, {"mode": "straight_through"}, 1500),
        ("M4  multi-head, mean of 4", train_pairs, {"mode": "multi_head"}, 1500),
        ("M3  local-m, window 2", train_pairs, {"mode": "local_m", "window": 2}, 1500),
        ("M3  local-p, window 2", train_pairs, {"mode": "local_p", "window": 2}, 1500),
    ]
    panels = [
        show(title, train(steps, swapped, **decoder), swapped)
        for title, train, decoder, steps in kinds
    ]
    draw_panels("modes", [*panels, self_attention(1500)], columns=3)


def swapped(letters: list[int]) -> list[int]:
    """`abcde` to `badce`."""
    return [letters[place] for place in swapped_places(len(letters))]


def swapped_places(length: int) -> list[int]:
    """Which source position each target position comes from."""
    return [min(place ^ 1, length - 1) for place in range(length)]


def train_pairs(
    steps: int,
    rewrite: Callable[[list[int]], list[int]],
    coverage: float = 0.0,
    supervised: float = 0.0,
    **decoder: Any,
) -> EncoderDecoder:
    """An encoder-decoder that has seen `steps` batches of random letters and their rewriting."""
    keras.utils.set_random_seed(1)
    size = FIRST_LETTER + len(LETTERS)
    width = {"vocabulary_size": size, "units": UNITS, "embedding_units": 16}
    model = EncoderDecoder(
        {"letters": {"type": "tokens", **width}},
        {"type": "recurrent", **width, **decoder},
    )
    optimizer = keras.optimizers.Adam(0.003, global_clipnorm=1.0)

    @tf.function
    def step(source, target, alignment):
        fed, labels = target[:, :-1], target[:, 1:]
        real = tf.not_equal(labels, 0)
        with tf.GradientTape() as tape:
            memory = model.encoder(source, training=True)
            features, weights = model.decoder.features(fed, memory, training=True)
            logits = model.decoder.logits(features)
            loss = masked_cross_entropy(logits, labels)
            if model.reinforce is not None:
                log_probability = tf.gather(tf.nn.log_softmax(logits), labels, batch_dims=2)
                count = tf.reduce_sum(tf.cast(real, tf.float32))
                loss += model.reinforce(features, weights, log_probability, real) / count
            if coverage:
                loss += coverage * tf.reduce_mean(doubly_stochastic(weights, real, memory.mask))
            if supervised:
                loss += supervised * supervised_attention(weights, alignment, real)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    random = np.random.default_rng(1)
    source, target, _ = make_pairs(random, rewrite, 2)
    model({"letters": source}, target)
    for _ in range(steps):
        step(*make_pairs(random, rewrite, BATCH))
    return model


def make_pairs(random: np.random.Generator, rewrite: Callable, count: int):
    """Random letters, 5 to 8 of them, what they become, and which of them became what."""
    source, target = np.zeros((count, 8), "int32"), np.zeros((count, 10), "int32")
    alignment = np.zeros((count, 9, 8), "float32")
    for row in range(count):
        length = random.integers(5, 9)
        letters = list(FIRST_LETTER + random.permutation(len(LETTERS))[:length])
        source[row, :length] = letters
        target[row, : length + 2] = [BEGIN, *rewrite(letters), END]
        for place, origin in enumerate(rewrite(list(range(length)))):
            alignment[row, place, origin] = 1.0
    return source, target, alignment


def show(title: str, model: EncoderDecoder, rewrite: Callable) -> Panel:
    """What a model answers to a new sequence and where it looked; how often it is right."""
    source, target, _ = make_pairs(np.random.default_rng(99), rewrite, 500)
    source[0], target[0] = 0, 0
    letters = [FIRST_LETTER + LETTERS.index(letter) for letter in "hbkdaelc"]
    source[0, :8], target[0, :10] = letters, [BEGIN, *rewrite(letters), END]
    search = tf.function(partial(greedy_search, max_length=9, with_weights=True))
    found = search(model.decoder, model.encoder(source))
    right = np.mean(np.all(found.ids[:, 0].numpy() == target[:, 1:], 1))
    print(f"  {title}: {right:.3f} right", flush=True)
    length = int(found.lengths[0, 0])
    return Panel(
        f"{title}\n{right:.0%} right",
        found.weights[0, 0, :length].numpy(),
        [name(i) for i in source[0] if i],
        [name(int(i)) for i in found.ids[0, 0, :length]],
    )


def name(i: int) -> str:
    """A letter, or a dot for the end."""
    return LETTERS[i - FIRST_LETTER] if i >= FIRST_LETTER else "."


def self_attention(steps: int) -> Panel:
    """An LSTMN that reads letters twice and says before each which one comes."""
    keras.utils.set_random_seed(1)
    encoder = TokenEncoder(
        FIRST_LETTER + len(LETTERS), UNITS, "lstmn", bidirectional=False, embedding_units=16
    )
    output = keras.layers.Dense(FIRST_LETTER + len(LETTERS))
    optimizer = keras.optimizers.Adam(0.003, global_clipnorm=1.0)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            logits = output(encoder(ids[:, :-1]).states)
            loss = masked_cross_entropy(logits[:, 6:], ids[:, 7:])
        variables = encoder.trainable_variables + output.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    def make(random, count):
        letters = FIRST_LETTER + np.array([random.permutation(12)[:6] for _ in range(count)])
        return np.concatenate([letters, np.full((count, 1), END), letters], 1)

    random = np.random.default_rng(1)
    output.build((None, UNITS))
    encoder(make(random, 1))
    for _ in range(steps):
        step(make(random, BATCH))
    ids = make(np.random.default_rng(99), 500)
    memory = encoder(ids[:, :-1])
    said = np.argmax(output(memory.states)[:, 6:], -1)
    right = np.mean(np.all(said == ids[:, 7:], 1))
    print(f"  LSTMN: {right:.3f} right", flush=True)
    tokens = [name(i) for i in ids[0, :-1]]
    return Panel(
        f"M4  LSTMN, a text said twice\n{right:.0%} right", memory.inner[0], tokens, tokens
    )


def draw_panels(picture: str, panels: list[Panel], columns: int) -> None:
    """Alignments side by side, all with the same shades."""
    rows = -(-len(panels) // columns)
    width, height = 2.35, 2.75
    with drawn_figure(FOLDER / f"{picture}.png", []) as figure:
        figure.set_size_inches(columns * width, rows * height)
        for number, panel in enumerate(panels):
            row, column = divmod(number, columns)
            axes = figure.add_axes(
                (
                    (column + 0.13) / columns,
                    1 - (row + 0.97) / rows,
                    0.8 / columns,
                    0.72 / rows,
                )
            )
            draw_shades(axes, np.asarray(panel.weights)).set_clim(0, 1)
            axes.set_xticks(range(len(panel.source)), panel.source, fontsize=9)
            axes.set_yticks(range(len(panel.target)), panel.target, fontsize=9)
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
            draw_lines_between(axes, len(panel.target), len(panel.source))
            axes.set_title(panel.title, fontsize=9.5, linespacing=1.4)


def draw_cells() -> None:
    """Learning curves of every cell on a task that is memory and nothing else.

    Twice, since how strong the inputs are decides as much as the cell: every seed is a line.
    """
    tables: dict[str, tuple[str, Callable]] = {
        "rows of length 1": ("#2f7aee", make_embedding),
        "Keras's default": ("#e08a1e", keras.layers.Embedding),
    }
    order = [
        *("simple_sigmoid", "simple", "lstm_zero_forget_bias", "lstm", "lstm_without_forget"),
        *("lstm_without_input", "lstm_without_output", "gru", "mut1", "mut2", "mut3"),
    ]
    columns, rows = 4, 3
    with drawn_figure(FOLDER / "cells.png", []) as figure:
        figure.set_size_inches(8.8, 5.6)
        for number, cell in enumerate(order):
            row, column = divmod(number, columns)
            place = ((column + 0.22) / columns, 1 - (row + 0.84) / rows)
            axes = figure.add_axes((*place, 0.72 / columns, 0.64 / rows))
            for table, (color, embedding) in tables.items():
                curves = [recall(cell, seed, embedding) for seed in (1, 2, 3)]
                last = " ".join(f"{curve[-1]:.2f}" for curve in curves)
                print(f"  {cell}, {table}: {last} right", flush=True)
                for curve in curves:
                    axes.plot(np.arange(len(curve)) * 25, curve, color=color, linewidth=1.2)
            axes.set_ylim(0, 1.03)
            axes.set_yticks([0, 0.5, 1], ["0", "50", "100%"])
            axes.set_xticks([0, 500, 1000])
            axes.tick_params(labelsize=7.5, length=2, labelleft=column == 0)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_title(cell, fontsize=9, pad=4)
        notes = [("embedding:", INK), *((table, color) for table, (color, _) in tables.items())]
        notes.append(("across: batches of 64", INK))
        for line, (text, color) in enumerate(notes):
            figure.text(3.22 / columns, 0.24 - 0.045 * line, text, fontsize=9, color=color)


def recall(
    cell: str, seed: int, embedding: Callable, steps: int = 1000, time: int = 25
) -> np.ndarray:
    """Accuracy while a cell learns to name the first of `time` symbols when the last is read."""
    keras.utils.set_random_seed(seed)
    symbols = 8
    inputs = keras.Input((time,), dtype="int32")
    _, states = Recurrence(make_cell(cell, 24))(embedding(2 * symbols, 16)(inputs))
    model = keras.Model(inputs, keras.layers.Dense(symbols)(states[0]))
    optimizer = keras.optimizers.Adam(0.005, global_clipnorm=1.0)
    random = np.random.default_rng(seed)

    def make(count):
        ids = random.integers(symbols, 2 * symbols, (count, time))
        ids[:, 0] = random.integers(symbols, size=count)
        return tf.constant(ids, tf.int32)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = keras.losses.sparse_categorical_crossentropy(ids[:, 0], model(ids), True)
            loss = tf.reduce_mean(loss)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    @tf.function
    def right(ids):
        said = tf.argmax(model(ids), -1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(tf.equal(said, ids[:, 0]), tf.float32))

    test = make(500)
    curve = [float(right(test))]
    for number in range(steps):
        step(make(BATCH))
        if number % 25 == 24:
            curve.append(float(right(test)))
    return np.array(curve)


def draw_unit() -> None:
    """The unit of a character model that knows best whether a quotation is open."""
    random = np.random.default_rng(1)
    told = re.findall(r"\w+", "the old man saw her when it rained and then he said")
    spoken = re.findall(r"\w+", "take this to him or they would not read her last letter")

    def write(count):
        text, inside = "", False
        for _ in range(count):
            words = spoken if inside else told
            text += " ".join(random.choice(words, random.integers(2, 7)))
            inside = not inside
            text += ' "' if inside else '" '
        return text

    text, shown = write(4000), write(12)[:420]
    alphabet = sorted(set(text))
    numbers = {character: number for number, character in enumerate(alphabet)}
    length = 64
    ids = np.array([numbers[character] for character in text])
    rows = ids[: len(ids) // (length + 1) * (length + 1)].reshape(-1, length + 1)
    inputs = keras.Input((None,), dtype="int32")
    embedded = keras.layers.Embedding(len(alphabet), 16)(inputs)
    states, _ = Recurrence(GRUCell(48))(embedded)
    model = keras.Model(inputs, keras.layers.Dense(len(alphabet))(states))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.005), loss)
    model.fit(rows[:, :-1], rows[:, 1:], batch_size=32, epochs=10, verbose=0)
    read = keras.Model(inputs, states)

    def look(text):
        """Every unit's activations, and how each goes with whether a quotation is open."""
        activations = read.predict(np.array([[numbers[c] for c in text]]), verbose=0)[0]
        is_open = np.cumsum([character == '"' for character in text]) % 2
        return activations, [np.corrcoef(unit, is_open)[0, 1] for unit in activations.T]

    # Chosen on one text and shown on another: the best of many always looks good on its own.
    _, elsewhere = look(write(100))
    unit = int(np.argmax(np.abs(elsewhere)))
    activations, fit = look(shown)
    print(f"  unit {unit}: correlation {elsewhere[unit]:.3f}, shown {fit[unit]:.3f}", flush=True)
    lines = re.sub(r"(.{60}\S*) ", r"\1" + "\n", shown)
    save_activation(FOLDER / "unit.png", activations[:, unit], lines)


def draw_examples() -> None:
    """Runs the examples of the page and keeps the pictures that they draw."""
    page = (FOLDER.parent / "layers.md").read_text()
    home = Path.cwd()
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if ".png" not in block:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                exec(compile(block, "layers.md", "exec"), {"__name__": "block"})
            finally:
                os.chdir(home)
            for drawn in Path(folder).glob("*.png"):
                picture = Image.open(drawn)
                picture.thumbnail((1000, 1000))  # of a noisy image the file would be large
                picture.save(FOLDER / drawn.name, optimize=True)


if __name__ == "__main__":
    main()
