"""A trained Transformer of ours beside CTranslate2 with the same weights, and beside OpenNMT-tf.

    python -m venv /tmp/ct2 && /tmp/ct2/bin/pip install ctranslate2==4.8.4 'numpy<2'
    python -m venv /tmp/onmt && /tmp/onmt/bin/pip install 'OpenNMT-tf[tensorflow]==2.32.0'
    .venv/bin/python benchmarks/transformer_decoding.py runs/multi30k-en-de-transformer MULTI30K \
        --ctranslate2 /tmp/ct2/bin/python --opennmt /tmp/onmt/bin/python

Ours goes through the SavedModel's signature, from raw strings to strings; CTranslate2 gets ids and
gives ids; OpenNMT-tf trains a Transformer of the same size here. First sentences end where the
weights end them, then all have 17 tokens, so that all have the same work. Batches of 64 in order of
length: one after another, each over all cores, and then a batch on each core. Each measurement is
repeated in turns.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from comparison import opennmt, prepare

from pairloom.components.trainer.run import build_model
from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import EOS, Subwords
from pairloom.models.positions import sinusoids
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain
from pairloom.serving.export import ServedModel, export_model

BATCH = 64
LENGTH = 17
TYPES = ("float32", "int8")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the run folder of a trained Transformer")
    parser.add_argument("data", type=Path, help="Multi30k")
    parser.add_argument("--recipe", default="multi30k-en-de-transformer")
    parser.add_argument("--ctranslate2", required=True, help="the Python of its environment")
    parser.add_argument("--opennmt", help="the Python of OpenNMT-tf's environment")
    parser.add_argument("--epochs", type=int, default=6, help="OpenNMT-tf's training")
    parser.add_argument("--folder", type=Path, help="keeps what is made, OpenNMT-tf's weights too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beam", type=int, default=5)
    args = parser.parse_args()
    saved = newest(args.run / "serving" / args.run.name)
    learned = next((args.run / "tfx").glob("FieldLearner/*/*/*.learned")).read_bytes()
    subwords = Subwords(learned)
    lines = (args.data / "test_2016_flickr.en").read_text("utf-8").splitlines()
    lines.sort(key=lambda line: len(line.split()))
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        folder.mkdir(exist_ok=True)
        model = restored(args.recipe, saved, learned)
        np.savez(folder / "weights.npz", **named_weights(model))
        ids = subwords.ids(tf.constant(lines)).to_list()
        (folder / "test.json").write_text(json.dumps(ids))
        theirs(args, "convert", folder)
        (folder / "test.txt").write_text("\n".join(lines), "utf-8")
        if args.opennmt:
            prepare(args.data, folder, subwords.size)
            steps = args.epochs * 29_000 // BATCH
            opennmt(args.opennmt, "learn", folder, steps, kind="transformer")
        forced = export_forced(model, learned, folder, args.beam)
        for streams, how in (
            (1, "a batch over all cores"),
            (os.cpu_count(), "a batch on each core"),
        ):
            title = f"the weights' own lengths, {how}"
            compare(args, title, saved, subwords, folder, 0, streams)
            compare(args, f"{LENGTH} tokens each, {how}", forced, subwords, folder, LENGTH, streams)


def compare(
    args, title: str, saved: Path, subwords: Subwords, folder: Path, length: int, streams: int
) -> None:
    """Rounds in turns; prints the medians, and the medians of the rounds' ratios."""
    rates: dict[str, list[float]] = {}
    lengths: dict[str, float] = {}
    texts: dict[str, list[str]] = {}
    for _ in range(args.rounds):
        found = side(sys.executable, "decode_side.py", saved, folder / "test.txt", streams)
        rates.setdefault("pairloom", []).append(found["sentences_per_second"])
        texts["pairloom"] = found["answers"]
        lengths["pairloom"] = mean_length(subwords, texts["pairloom"])
        for kind in TYPES:
            found = theirs(args, "decode", folder, kind, args.beam, length, streams)
            name = f"CTranslate2, {kind}"
            rates.setdefault(name, []).append(found["sentences_per_second"])
            lengths[name] = found["length"]
            texts[name] = decoded(subwords, found["answers"])
        if args.opennmt:
            numbers = (args.beam, length, streams)
            found = opennmt(args.opennmt, "decode", folder, *numbers, kind="transformer")
            rates.setdefault("OpenNMT-tf", []).append(found["sentences_per_second"])
            lengths["OpenNMT-tf"] = found["length"]
    print(f"beam {args.beam}, {title}")
    for name, values in rates.items():
        ratio = np.median(np.divide(rates["pairloom"], values))
        same = ""
        if not length and name in texts and name != "pairloom":
            equal = np.mean([a == b for a, b in zip(texts["pairloom"], texts[name])])
            same = f", {equal:.1%} of the answers the same"
        print(
            f"  {name}: {np.median(values):.0f} sentences/s of {lengths[name]:.1f} tokens; "
            f"ours / this {ratio:.2f}{same}",
            flush=True,
        )


def newest(base_path: Path) -> Path:
    """The folder of the highest version."""
    versions = [path for path in base_path.iterdir() if path.name.isdigit()]
    return max(versions, key=lambda path: int(path.name))


def restored(recipe: str, saved: Path, learned: bytes):
    """The Keras model with the weights of a SavedModel, which holds them in order."""
    source, target = (Graph(name, {}, learned) for name in ("source", "target"))
    model = build_model(plain(load_recipe(recipe).model), {"source": source}, target)
    reader = tf.train.load_checkpoint(str(saved / "variables" / "variables"))
    for number, variable in enumerate(model.variables):
        variable.assign(reader.get_tensor(f"weights/{number}/.ATTRIBUTES/VARIABLE_VALUE"))
    return model


def named_weights(model) -> dict[str, np.ndarray]:
    """Every weight under a name that says what it is."""
    encoder, decoder = model.encoder, model.decoder
    table = encoder.embedding.embeddings.numpy()
    named = {
        "layers": np.int32(len(encoder.blocks)),
        "heads": np.int32(encoder.blocks[0].heads),
        "size": np.int32(len(table)),
        "embedding": table,
        "bias": decoder.output_layer.bias.numpy(),
        "places": sinusoids(256, table.shape[1]).numpy(),
    }
    for side_name, layers in (("encoder", encoder), ("decoder", decoder)):
        add_norm(named, f"{side_name}.norm", layers.norm)
        for number, block in enumerate(layers.blocks):
            name = f"{side_name}.{number}"
            for part in ("self_norm", "cross_norm", "feed_norm"):
                if getattr(block, part) is not None:
                    add_norm(named, f"{name}.{part}", getattr(block, part))
            for part in ("self_attention", "cross_attention"):
                attention = getattr(block, part)
                for kernel in ("query", "key", "value", "output") if attention is not None else ():
                    named[f"{name}.{part}.{kernel}"] = getattr(
                        attention, f"{kernel}_kernel"
                    ).numpy()
            for weight in ("hidden_kernel", "hidden_bias", "output_kernel", "output_bias"):
                named[f"{name}.feed_forward.{weight}"] = getattr(block.feed_forward, weight).numpy()
    return named


def add_norm(named: dict[str, np.ndarray], name: str, norm) -> None:
    """A normalisation's two weights."""
    named[f"{name}.gamma"], named[f"{name}.beta"] = norm.gamma.numpy(), norm.beta.numpy()


def export_forced(model, learned: bytes, folder: Path, beam: int) -> Path:
    """A SavedModel whose sentences all have `LENGTH` tokens."""
    bias = model.decoder.output_layer.bias
    bias.assign(tf.tensor_scatter_nd_update(bias.value, [[EOS]], [-1e9]))
    source, target = (Graph(name, {}, learned) for name in ("source", "target"))
    output = Output(target, {"beam": beam, "nbest": beam, "max_length": LENGTH})
    kinds = {"source": "text", "target": "text"}
    export_model(ServedModel(model, {"source": source}, output, kinds), str(folder / "forced"))
    return folder / "forced"


def mean_length(subwords: Subwords, texts: list[str]) -> float:
    """Mean tokens of a text, its end included."""
    return float(subwords.ids(tf.constant(texts)).row_lengths().numpy().mean() + 1)


def decoded(subwords: Subwords, answers: list[list[int]]) -> list[str]:
    """Ids as texts."""
    texts = subwords.text(tf.ragged.constant(answers, tf.int32).to_tensor())
    return [text.decode() for text in texts.numpy()]


def theirs(args: argparse.Namespace, *arguments: object) -> dict:
    """Runs CTranslate2's side."""
    return side(args.ctranslate2, "ctranslate2_side.py", *arguments)


def side(python: str, script: str, *arguments: object) -> dict:
    """Runs one side in a process of its own, and reads what it prints."""
    command = [python, str(Path(__file__).with_name(script)), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(result.stderr)
    lines = result.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else {}


if __name__ == "__main__":
    main()
