"""What the layers cost, beside the arithmetic they cannot do without.

    .venv/bin/python benchmarks/layers.py                  # prints the tables
    .venv/bin/python benchmarks/layers.py --plot cost.png  # and draws cost over length

Sizes: 256 units, 8,000 ids, 64 sentences of 17 tokens. The arithmetic limit is the machine's rate
in one large matrix product, measured in the same run, divided by the operations of the model's
products alone.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from pairloom.models import (
    AdditiveScore,
    GRUCell,
    LSTMCell,
    Memory,
    Recurrence,
    RecurrentDecoder,
    SoftAttention,
    beam_search,
)
from pairloom.models.losses import projected_cross_entropy

UNITS, SIZE, BATCH, TIME, BEAMS = 256, 8000, 64, 17, 5
LENGTHS = (10, 20, 50, 100, 200, 500, 1000)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return one_length(args.one[0], int(args.one[1]))
    alone(args.rounds)
    training(args.rounds)
    decoding_step(args.rounds)
    if args.plot:
        plot(args.plot, *over_lengths())


def alone(rounds: int) -> None:
    """Single layers beside Keras's own: the same arithmetic, forwards and backwards."""
    random = np.random.default_rng(0)
    states, asks = (
        tf.constant(random.normal(size=(BATCH, TIME, UNITS)).astype("float32")) for _ in range(2)
    )
    rnn = partial(keras.layers.RNN, return_sequences=True)
    query, key = (keras.layers.Dense(UNITS, use_bias=False) for _ in range(2))
    theirs = keras.layers.AdditiveAttention()
    ours = SoftAttention(AdditiveScore(UNITS))
    both = keras.layers.Bidirectional(rnn(keras.layers.GRUCell(UNITS)))
    two = Recurrence(GRUCell(UNITS), GRUCell(UNITS), return_state=False)
    lstm = Recurrence(LSTMCell(UNITS), return_state=False)
    one = Recurrence(GRUCell(UNITS), return_state=False)
    pairs: dict[str, tuple[tuple[Any, list], tuple[Any, list]]] = {
        "GRU": ((one, [one]), with_layer(rnn(keras.layers.GRUCell(UNITS)))),
        "LSTM": ((lstm, [lstm]), with_layer(rnn(keras.layers.LSTMCell(UNITS)))),
        "GRU, both ways": ((two, [two]), with_layer(both)),
        "additive attention": (
            (lambda x: ours(asks, x)[0], [ours]),
            (lambda x: theirs([query(asks), x, key(x)]), [query, key, theirs]),
        ),
    }
    print(f"Layers alone, {BATCH} sentences of {TIME} tokens: keras.layers / ours")
    for name, sides in pairs.items():
        steps = [layer_step(call, layers, states) for call, layers in sides]
        seconds = [[best_of(partial(step, states), 10) for step in steps] for _ in range(rounds)]
        own, other = np.median(seconds, 0)
        ratio = np.median([b / a for a, b in seconds])
        print(f"  {name}: {1e3 * own:.1f} ms, keras {1e3 * other:.1f} ms: {ratio:.2f}", flush=True)


def with_layer(layer: keras.layers.Layer) -> tuple[keras.layers.Layer, list]:
    """A layer, and what has its weights."""
    return layer, [layer]


def layer_step(call: Callable, layers: list, states) -> Callable:
    """The gradients of the squares of what `call` makes, by its weights and by what it reads."""
    call(states)
    weights = [weight.value for layer in layers for weight in layer.trainable_variables]

    @tf.function(autograph=False)
    def step(states):
        with tf.GradientTape() as tape:
            tape.watch(states)
            loss = tf.reduce_mean(tf.square(call(states)))
        return tape.gradient(loss, [*weights, states])

    return step


def training(rounds: int) -> None:
    """A teacher-forced training step of the decoder: forwards, backwards."""
    data = inputs(TIME, TIME)
    steps = {
        "additive, input feeding": (forced_step(RecurrentDecoder(SIZE, UNITS)), True, True),
        "additive, Luong without feeding": (
            forced_step(RecurrentDecoder(SIZE, UNITS, input_feeding=False)),
            False,
            True,
        ),
        "keras.layers.RNN around a plain attention cell": (usual_step(), True, True),
        "the same, keys made before the loop": (usual_step(keys_once=True), True, True),
        "additive, input feeding, no output layer": (
            forced_step(RecurrentDecoder(SIZE, UNITS), output=False),
            True,
            False,
        ),
        "keras.layers.RNN around a plain attention cell, no output layer": (
            usual_step(output=False),
            True,
            False,
        ),
        "keras.layers.RNN, keys made before the loop, no output layer": (
            usual_step(keys_once=True, output=False),
            True,
            False,
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    rates = []
    for _ in range(rounds):
        rates.append(machine_rate())
        for name, (step, _, _) in steps.items():
            seconds[name].append(best_of(partial(step, *data), 5))
    rate = float(np.median(rates))
    print(
        f"Teacher-forced training step, {BATCH} sentences of {TIME} tokens; "
        f"{rate / 1e9:.0f} GFLOP/s in a large product"
    )
    for name, (_, feeding, output) in steps.items():
        median = float(np.median(seconds[name]))
        share = operations(feeding, output) / rate / median
        print(f"  {name}: {1e3 * median:.1f} ms, {share:.0%} of the limit")
    ours, _, plain, keys_once, our_loop, plain_loop, keys_once_loop = seconds.values()
    for name, slow, fast in (
        ("a plain cell", plain, ours),
        ("keys made before the loop", keys_once, ours),
        ("a plain cell, no output layer", plain_loop, our_loop),
        ("keys made before the loop, no output layer", keys_once_loop, our_loop),
    ):
        ratio = np.median(np.divide(slow, fast))
        print(f"  keras.layers.RNN / ours, {name}: {ratio:.2f}", flush=True)


def inputs(source_time: int, target_time: int, batch: int = BATCH):
    """A memory, what is fed, and the labels, all of full length."""
    random = np.random.default_rng(0)
    memory = Memory(
        tf.constant(random.normal(size=(batch, source_time, UNITS)).astype("float32")),
        tf.ones((batch, source_time), tf.bool),
        tf.constant(random.normal(size=(batch, UNITS)).astype("float32")),
    )
    ids = tf.constant(random.integers(4, SIZE, (batch, target_time + 1)), tf.int32)
    return memory, ids[:, :-1], ids[:, 1:]


def forced_step(decoder: RecurrentDecoder, output: bool = True) -> Callable:
    """Ours: loss and gradients of a decoder; without the output layer, of its features' squares."""
    shapes = Memory((None, None, UNITS), (None, None), (None, UNITS))
    decoder.build((None, None), shapes)
    left_out = () if output else {id(weight) for weight in decoder.output_layer.weights}
    weights = [w.value for w in decoder.trainable_variables if id(w) not in left_out]

    @tf.function(autograph=False)
    def step(memory, ids, labels):
        with tf.GradientTape() as tape:
            tape.watch(memory.states)
            features, _ = decoder.features(ids, memory, training=True)
            losses = tf.square(features)
            if output:
                losses = projected_cross_entropy(
                    tf.reshape(features, [-1, features.shape[-1]]),
                    tf.convert_to_tensor(decoder.output_layer.table),
                    tf.convert_to_tensor(decoder.output_layer.bias),
                    tf.reshape(labels, [-1]),
                )
            loss = tf.reduce_mean(losses)
        return loss, tape.gradient(loss, [*weights, memory.states])

    return step


class PlainAttentionCell(keras.layers.Layer):
    """The same decoder step as a cell for `keras.layers.RNN`, written as tutorials do.

    They project the memory at every step (TensorFlow's own translation tutorial did for years);
    with `keys_once` that stands before the loop.
    """

    def __init__(self, keys_once: bool = False):
        super().__init__()
        self.keys_once = keys_once
        self.gru = keras.layers.GRUCell(UNITS)
        self.query, self.key = (
            keras.layers.Dense(UNITS, use_bias=False),
            keras.layers.Dense(UNITS, use_bias=False),
        )
        self.v = keras.layers.Dense(1, use_bias=False)
        self.readout = keras.layers.Dense(UNITS, activation="tanh", use_bias=False)
        self.state_size = [UNITS, UNITS]
        self.output_size = UNITS
        self.memory = None

    def remember(self, states):
        """Tells the cell what to attend to."""
        self.memory, self.keys = states, self.key(states) if self.keys_once else None

    def call(self, inputs, states):
        h, fed = states
        output, (h,) = self.gru(ops.concatenate([inputs, fed], -1), [h])
        keys = self.keys if self.keys_once else self.key(self.memory)
        scores = self.v(ops.tanh(self.query(output)[:, None] + keys))
        weights = ops.softmax(scores, axis=1)
        context = ops.sum(weights * self.memory, 1)
        fed = self.readout(ops.concatenate([context, output], -1))
        return fed, [h, fed]


def usual_step(keys_once: bool = False, output: bool = True) -> Callable:
    """Theirs: an RNN layer, a dense layer, Keras's loss; or the RNN layer alone."""
    embedding = keras.layers.Embedding(SIZE, UNITS)
    cell = PlainAttentionCell(keys_once)
    layer = keras.layers.RNN(cell, return_sequences=True)
    bridge, dense = keras.layers.Dense(UNITS, activation="tanh"), keras.layers.Dense(SIZE)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def forward(memory, ids):
        cell.remember(memory.states)
        first = bridge(memory.summary)
        made = layer(embedding(ids), initial_state=[first, ops.zeros_like(first)])
        return dense(made) if output else made

    memory, ids, _ = inputs(2, 2)
    forward(memory, ids)

    @tf.function(autograph=False)
    def step(memory, ids, labels):
        parts = (embedding, layer, bridge, *([dense] if output else []))
        weights = [weight.value for part in parts for weight in part.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch(memory.states)
            made = forward(memory, ids)
            loss = loss_of(labels, made) if output else tf.reduce_mean(tf.square(made))
        return loss, tape.gradient(loss, [*weights, memory.states])

    return step


def operations(feeding: bool, output: bool) -> float:
    """Multiplications and additions of a training step's products, three times the forward ones."""
    cell = UNITS * 3 * UNITS * (3 if feeding else 2)  # embedding, state, and what is fed
    token = cell + UNITS * UNITS + 2 * UNITS * UNITS  # query, readout
    token += UNITS * SIZE if output else 0
    token += 2 * TIME * UNITS  # v . tanh and the weighted sum
    source = UNITS * UNITS  # keys
    return 3 * 2 * BATCH * TIME * (token + source)


def decoding_step(rounds: int) -> None:
    """A step of beam search, beside its own matrix products."""
    decoder = RecurrentDecoder(SIZE, UNITS)
    decoder.build((None, None), Memory((None, None, UNITS), (None, None), (None, UNITS)))
    bias = decoder.output_layer.bias
    bias.assign(tf.tensor_scatter_nd_update(bias.value, [[3]], [-1e9]))  # nothing ends
    memory, _, _ = inputs(TIME, TIME)

    @tf.function(autograph=False)
    def search(memory, length):
        return beam_search(decoder, memory, beams=BEAMS, nbest=BEAMS, max_length=length).scores

    @tf.function(autograph=False)
    def step(ids, state, memory):
        return decoder.step(ids, state, memory)[0]

    prepared = decoder.prepare(memory)
    state = decoder.initial_state(prepared, BEAMS)
    ids = tf.fill([BATCH, BEAMS], 5)
    products = product_step(decoder, memory)
    steps = 40
    whole, alone, stepped = [], [], []
    for _ in range(rounds):
        # The difference of two lengths leaves out what happens once.
        long = best_of(lambda: search(memory, tf.constant(2 * steps)), 2)
        short = best_of(lambda: search(memory, tf.constant(steps)), 2)
        whole.append((long - short) / steps)
        alone.append(best_of(products, 10))
        stepped.append(best_of(partial(step, ids, state, prepared), 10))
    total, product, own = (1e3 * float(np.median(x)) for x in (whole, alone, stepped))
    print(f"Decoding step, {BATCH} sentences x beam {BEAMS}, {SIZE} ids, {UNITS} units")
    print(
        f"  {total:.1f} ms: the decoder's step {own:.1f} ms, of which matrix products "
        f"{product:.1f} ms; the search adds {1 - own / total:.0%}, all but products is "
        f"{1 - product / total:.0%}",
        flush=True,
    )


def product_step(decoder: RecurrentDecoder, memory: Memory) -> Callable:
    """The products of one step alone, with the shapes that the step has."""
    rows = BATCH * BEAMS
    state = tf.random.normal([rows, UNITS])
    fed = tf.random.normal([rows, UNITS])
    cell = decoder.cells[0]
    kernels = [
        (fed, tf.convert_to_tensor(cell.kernel)[:UNITS]),
        (fed, tf.convert_to_tensor(cell.kernel)[UNITS:]),
        (state, tf.convert_to_tensor(cell.recurrent_kernel)),
        (state, tf.convert_to_tensor(decoder.attention.score.query_kernel)),
        (tf.concat([state, fed], 1), tf.convert_to_tensor(decoder.readout)),
        (state, tf.transpose(tf.convert_to_tensor(decoder.output_layer.table))),
        (tf.random.normal([rows * TIME, UNITS]), tf.random.normal([UNITS, 1])),
        (tf.random.normal([BATCH, BEAMS, TIME]), memory.states),
    ]

    @tf.function(autograph=False)
    def run(pairs):
        return [tf.matmul(a, b) for a, b in pairs]

    return lambda: run(kernels)


def over_lengths():
    """Seconds and megabytes by source length and by target length."""
    found: dict[str, list[tuple[float, float]]] = {"source": [], "target": []}
    for length in LENGTHS:
        for what in found:
            # A process of its own, for memory that one length freed would hide the next one's.
            command = [sys.executable, "-W", "ignore", __file__, "--one", what, str(length)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, megabytes = (float(x) for x in printed.split()[-2:])
            found[what].append((seconds, megabytes))
            print(
                f"  {what} length {length}: {1e3 * seconds:.0f} ms, {megabytes:.0f} MB", flush=True
            )
    return found["source"], found["target"]


def one_length(what: str, length: int) -> None:
    """Prints the seconds of a run of 8 sentences, and by how many megabytes memory rises in it."""
    decoder = RecurrentDecoder(SIZE, UNITS)
    step = forced_step(decoder)
    bias = decoder.output_layer.bias
    bias.assign(tf.tensor_scatter_nd_update(bias.value, [[3]], [-1e9]))  # nothing ends

    @tf.function(autograph=False, reduce_retracing=True)
    def search(memory, length):
        return beam_search(decoder, memory, beams=BEAMS, max_length=length).scores

    def prepared(length):
        if what == "source":
            return partial(step, *inputs(length, TIME, 8))
        return partial(search, inputs(TIME, TIME, 8)[0], tf.constant(length))

    best_of(prepared(2), 1)
    run = prepared(length)
    before = memory_in_use("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the highest memory so far
    best_of(run, 1)
    rise = memory_in_use("VmHWM") - before
    print(best_of(run, 3), rise)


def memory_in_use(line: str) -> float:
    """A line of the kernel's account, in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) / 1024


def plot(path: Path, by_source, by_target) -> None:
    """Cost over length, both axes logarithmic, with a line for what would be linear."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(9, 6.5), layout="constrained", sharex=True)
    columns = (
        ("training step, source length", by_source),
        (f"beam search of {BEAMS}, target length", by_target),
    )
    for column, (name, rows) in enumerate(columns):
        for row, (unit, factor) in enumerate((("ms", 1e3), ("MB", 1.0))):
            axes = panels[row][column]
            values = [factor * values[row] for values in rows]
            axes.loglog(LENGTHS, values, "o-", label="measured")
            straight = [values[-1] * length / LENGTHS[-1] for length in LENGTHS]
            axes.loglog(LENGTHS, straight, "--", color="gray", label="proportional to length")
            axes.set_ylabel(unit)
            axes.grid(alpha=0.3)
            if row == 0:
                axes.set_title(name)
                axes.legend()
            else:
                axes.set_xlabel("tokens")
    figure.savefig(path, dpi=120)


def best_of(run: Callable, times: int) -> float:
    """Seconds of the fastest of several runs, the first of all left out."""
    tf.nest.map_structure(lambda x: tf.convert_to_tensor(x).numpy(), run())
    found = []
    for _ in range(times):
        started = time.perf_counter()
        result = run()
        tf.convert_to_tensor(tf.nest.flatten(result)[0]).numpy()
        found.append(time.perf_counter() - started)
    return min(found)


def machine_rate() -> float:
    """Operations a second in a large matrix product, at best."""
    square = tf.random.normal([1024, 1024])
    multiply = tf.function(lambda x: x @ x)
    return 2 * 1024**3 / best_of(lambda: multiply(square), 20)


if __name__ == "__main__":
    main()
