"""pairloom beside OpenNMT-tf 2.32: training and decoding on Multi30k, in one run.

    python -m venv /tmp/onmt && /tmp/onmt/bin/pip install 'OpenNMT-tf[tensorflow]==2.32.0'
    .venv/bin/python benchmarks/comparison.py path/to/multi30k --opennmt /tmp/onmt/bin/python

Both sides: 8,000 joint subwords, a bidirectional GRU encoder and a GRU decoder of 256 units,
additive attention with input feeding, batches of about 64 sentences, no dropout. Each measurement
is repeated in turns, so that a machine whose speed wanders is the same for both. When decoding,
every sentence gets the test set's mean length, whatever the weights say: both sides then do the
same work, trained or not. With `--epochs` both sides are trained first and sentences end where
they should; `--folder` keeps the trained weights for the next time.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import sentencepiece
import tensorflow as tf

from pairloom.components.trainer.batches import Pairs
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.run import build_model
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import EOS, Subwords
from pairloom.serving.export import ServedModel, export_model

UNITS = 256
SIZE = 8000
BATCH = 64
LENGTH = 17
MODEL = {
    "encoders": {
        "source": {
            "type": "tokens",
            "cell": "gru",
            "units": UNITS,
            "layers": 1,
            "bidirectional": True,
            "embedding_units": UNITS,
            "dropout": 0.0,
        }
    },
    "decoder": {
        "type": "recurrent",
        "cell": "gru",
        "units": UNITS,
        "layers": 1,
        "context": "attention",
        "score": "additive",
        "style": "luong",
        "input_feeding": True,
        "embedding_units": UNITS,
        "dropout": 0.0,
    },
    "tied": "none",
}
SPEC = {name: tf.io.RaggedFeature(tf.int64) for name in ("source", "target")}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--opennmt", required=True, help="the Python of OpenNMT-tf's environment")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=0, help="train both sides, then decode")
    parser.add_argument("--folder", type=Path, help="keeps the weights of --epochs")
    parser.add_argument(
        "--precision",
        default="float32",
        choices=["float32", "bfloat16_products"],
        help="of our training (default float32)",
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        subwords = prepare(args.data, folder)
        loop = make_loop(folder, max(args.epochs, 1), args.precision)
        if args.epochs:
            opennmt(args.opennmt, "learn", folder, args.epochs * loop.steps_per_epoch)
            loop.run()
        else:
            compare_training(args, loop, folder)
        for beam in (1, 5):
            compare_decoding(args, loop, folder, subwords, beam, 0 if args.epochs else LENGTH)


def compare_training(args: argparse.Namespace, loop: TrainingLoop, folder: Path) -> None:
    """Prints both sides' tokens a second, round by round."""
    rounds = []
    for _ in range(args.rounds):
        theirs = opennmt(args.opennmt, "train", folder, args.steps)["tokens_per_second"]
        limit = arithmetic_limit()
        ours = training_speed(loop, args.steps)
        rounds.append((ours, theirs, limit))
        print(
            f"training: {ours:,.0f} beside {theirs:,.0f} tokens/s, limit {limit:,.0f}", flush=True
        )
    ours, theirs, limit = np.median(rounds, axis=0)
    print(
        f"training, median: {ours:,.0f} tokens/s, OpenNMT-tf {theirs:,.0f}, "
        f"ratio {np.median([a / b for a, b, _ in rounds]):.2f}, "
        f"share of the limit {ours / limit:.0%}",
        flush=True,
    )


def compare_decoding(
    args: argparse.Namespace,
    loop: TrainingLoop,
    folder: Path,
    subwords: Subwords,
    beam: int,
    length: int,
) -> None:
    """Prints both sides' sentences a second; length 0: where the weights end them."""
    answer = saved_model(loop, folder, beam, length)
    rounds = []
    for _ in range(args.rounds):
        theirs = opennmt(args.opennmt, "decode", folder, beam, length, 1)
        ours, tokens = decoding_speed(answer, subwords, args.data)
        limit = decoding_limit(beam, tokens)
        rounds.append((ours, theirs["sentences_per_second"], limit, tokens, theirs["length"]))
    ours, speed, limit, tokens, their_tokens = np.median(rounds, axis=0)
    print(
        f"decoding, beam {beam}: {ours:.0f} sentences/s of {tokens:.1f} tokens, "
        f"OpenNMT-tf {speed:.0f} of {their_tokens:.1f}, "
        f"ratio {np.median([row[0] / row[1] for row in rounds]):.2f}, "
        f"share of the limit {ours / limit:.0%}",
        flush=True,
    )


def prepare(data: Path, folder: Path, size: int = SIZE) -> Subwords:
    """Writes the same subwords for both sides."""
    sentencepiece.SentencePieceTrainer.train(
        input=f"{data}/train.en,{data}/train.de",
        model_prefix=str(folder / "joint"),
        vocab_size=size,
        model_type="bpe",
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        byte_fallback=True,
        minloglevel=2,
    )
    model = (folder / "joint.model").read_bytes()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    for split, name in (("train", "train"), ("eval", "val"), ("test", "test_2016_flickr")):
        sides = [
            (data / f"{name}.{language}").read_text().splitlines() for language in ("en", "de")
        ]
        with tf.io.TFRecordWriter(
            str(folder / f"{split}.gz"), tf.io.TFRecordOptions("GZIP")
        ) as writer:
            for texts in zip(*sides):
                features = {
                    field: tf.train.Feature(
                        int64_list=tf.train.Int64List(value=processor.encode(text))
                    )
                    for field, text in zip(("source", "target"), texts)
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())
        for field, lines in zip(("source", "target"), sides):
            pieces = (" ".join(processor.encode(line, out_type=str)) for line in lines)
            (folder / f"{split}.{field}").write_text("\n".join(pieces) + "\n")
    names = [processor.id_to_piece(number) for number in range(4, size)]
    (folder / "vocabulary.txt").write_text("\n".join(["<blank>", "<s>", "</s>", *names]) + "\n")
    return Subwords(model)


def make_loop(folder: Path, epochs: int, precision: str = "float32") -> TrainingLoop:
    """Our side, as a recipe would make it."""
    learned = (folder / "joint.model").read_bytes()
    source, target = (Graph(name, {}, learned) for name in ("source", "target"))
    output = Output(target, {})
    model = build_model(MODEL, {"source": source}, target)
    # As many batches an epoch as 64 sentences each would make.
    settings = TrainingSettings(
        epochs=epochs,
        batch_tokens=1068,
        label_smoothing=0.0,
        clip_norm=0.0,
        precision=precision,
    )
    train, held_out = (
        Pairs([str(folder / f"{split}.gz")], SPEC, {"source": source}, target, output.column)
        for split in ("train", "eval")
    )
    return TrainingLoop(model, output, settings, train, held_out, str(folder / "checkpoints"))


def training_speed(loop: TrainingLoop, steps: int) -> float:
    """Real target tokens a second."""
    tokens = seconds = 0.0
    for number, (inputs, target) in enumerate(loop._batches(0).take(steps + 5)):
        started = time.perf_counter()
        _, count = loop._train_step(inputs, target)
        count = float(count)
        if number >= 5:
            seconds += time.perf_counter() - started
            tokens += count
    return tokens / seconds


def machine_rate() -> float:
    """Operations a second in a large matrix product, at best."""
    square = tf.random.normal([1024, 1024])
    multiply = tf.function(lambda x: x @ x)
    multiply(square)
    times = []
    for _ in range(30):
        started = time.perf_counter()
        multiply(square).numpy()
        times.append(time.perf_counter() - started)
    return 2 * 1024**3 / min(times)


# Weights that a token meets on each side: input, recurrent and fed products of the GRU, the
# query, the readout; both directions of the encoder, and the keys.
DECODER = UNITS * (3 * UNITS) * 3 + UNITS * UNITS + 2 * UNITS * UNITS
ENCODER = 2 * (UNITS * 3 * (UNITS // 2) + (UNITS // 2) * 3 * (UNITS // 2)) + UNITS * UNITS


def arithmetic_limit() -> float:
    """Tokens a second if training were matrix products alone, at the machine's best rate."""
    return machine_rate() / (6 * (UNITS * SIZE + DECODER + ENCODER))


def decoding_limit(beam: int, length: float) -> float:
    """Sentences a second if decoding were matrix products alone, at the machine's best rate."""
    return machine_rate() / (2 * length * (beam * (UNITS * SIZE + DECODER) + ENCODER))


def saved_model(loop: TrainingLoop, folder: Path, beam: int, length: int) -> Callable:
    """The default signature of a SavedModel, written and loaded again."""
    if length:
        # No sentence ends before its time.
        bias = loop.model.decoder.output_layer.bias
        bias.assign(tf.tensor_scatter_nd_update(bias.value, [[EOS]], [-1e9]))
    search = {"beam": beam, "nbest": min(beam, 5), "max_length": length or 100}
    learned = (folder / "joint.model").read_bytes()
    source, target = (Graph(name, {}, learned) for name in ("source", "target"))
    kinds = {"source": "text", "target": "text"}
    served = ServedModel(loop.model, {"source": source}, Output(target, search), kinds)
    export_model(served, str(folder / f"beam{beam}"))
    loaded = tf.saved_model.load(str(folder / f"beam{beam}"))
    signature = loaded.signatures["serving_default"]
    signature.model = loaded  # else its weights go with the model
    return signature


def decoding_speed(answer: Callable, subwords: Subwords, data: Path) -> tuple[float, float]:
    """Sentences a second, batches of 64 in order of length, and their mean length in tokens."""
    lines = (data / "test_2016_flickr.en").read_text().splitlines()
    lines.sort(key=lambda line: len(line.split()))
    batches = [tf.constant(lines[i : i + BATCH]) for i in range(0, len(lines), BATCH)]
    for _ in range(2):
        started = time.perf_counter()
        found = [answer(source=batch)["target"].numpy() for batch in batches]
        seconds = time.perf_counter() - started
    # The end counts too: it is a step like any other.
    tokens = subwords.ids(tf.constant(np.concatenate(found))).row_lengths().numpy() + 1
    return len(lines) / seconds, float(tokens.mean())


def opennmt(
    python: str, action: str, folder: Path, *numbers: int, kind: str = "recurrent"
) -> dict[str, float]:
    """Runs OpenNMT-tf's side and reads what it prints."""
    script = Path(__file__).with_name("opennmt_side.py")
    result = subprocess.run(
        [python, str(script), action, kind, str(folder), *map(str, numbers)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = result.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else {}


if __name__ == "__main__":
    main()
