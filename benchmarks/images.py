"""Images: decoding beside Pillow, training beside plain Keras, and memory as they grow in number.

    .venv/bin/python benchmarks/images.py decode
    .venv/bin/python benchmarks/images.py train
    .venv/bin/python benchmarks/images.py memory --counts 1000 50000

Made-up photos, so that anybody can run it. `decode` and `train` go back and forth between the two
sides and count CPU seconds, of which a shared machine takes none away; `memory` runs the nodes up
to Transform in a process of its own for each count, over a few files again and again.
"""

import argparse
import io
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

FILES = 200
SIDE = 128
CLASSES = 10


def photo(number: int, size: tuple[int, int]) -> bytes:
    """A JPEG about as hard to decode as a photo: smooth, with some noise."""
    random = np.random.default_rng(number)
    small = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=np.uint8))
    pixels = np.asarray(small.resize(size, Image.Resampling.BICUBIC)).astype(np.int16)
    noisy = (pixels + random.normal(0, 6, pixels.shape)).clip(0, 255).astype(np.uint8)
    with io.BytesIO() as file:
        Image.fromarray(noisy).save(file, "JPEG", quality=90)
        return file.getvalue()


def taking_turns(sides: dict[str, Callable[[], int]], rounds: int) -> None:
    """Prints images a CPU second of each side, and how the first compares with the others."""
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds + 1):
        for name, work in sides.items():
            start = time.process_time()
            count = work()
            rates[name].append(count / (time.process_time() - start))
    medians = {name: statistics.median(found[1:]) for name, found in rates.items()}
    first = next(iter(medians.values()))
    for name, rate in medians.items():
        print(f"{name}: {rate:,.0f} images a CPU second, ratio {first / rate:.2f}")


def decode(rounds: int) -> None:
    """What Transform does to an image, beside Pillow: upright, resized."""
    import tensorflow as tf

    from pairloom.kinds.image import ImageOptions
    from pairloom.kinds.image.graph import Graph

    graph = Graph("photo", vars(ImageOptions(height=SIDE, width=SIDE)), b"")
    transform = tf.function(graph.transform, input_signature=[graph.served_spec()], autograph=False)
    tensor = tf.function(graph.tensor, input_signature=[graph.served_spec()], autograph=False)
    for size in ((SIDE, SIDE), (500, 375), (2000, 1500)):
        photos = [photo(number, size) for number in range(FILES if size[0] < 1000 else 20)]
        values = tf.constant(photos)

        def pillow(photos=photos) -> int:
            for content in photos:
                with Image.open(io.BytesIO(content)) as image:
                    upright = ImageOps.exif_transpose(image).convert("RGB")
                    np.asarray(upright.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
            return len(photos)

        def ours(values=values) -> int:
            return len(tensor(values))

        def stored(values=values) -> int:
            return len(transform(values)[""])

        print(f"{size[0]} x {size[1]} to {SIDE} x {SIDE}")
        taking_turns({"decoded": ours, "decoded and stored": stored, "Pillow": pillow}, rounds)


def train(rounds: int) -> None:
    """A step of our model beside one of a plain Keras model of the same layers."""
    import keras
    import tensorflow as tf

    from pairloom.components.trainer.fused_adam import FusedAdam
    from pairloom.models import EncoderDecoder
    from pairloom.models.encoders.own_networks import OWN_NETWORKS

    images = np.random.default_rng(1).integers(0, 256, (32, SIDE, SIDE, 3)).astype("uint8")
    labels = np.arange(32) % CLASSES

    def model() -> EncoderDecoder:
        head = {"type": "classes", "classes": CLASSES}
        photo = {"type": "image", "backbone": "residual", "units": 256}
        made = EncoderDecoder({"photo": photo}, head)
        made.build({"photo": (None, SIDE, SIDE, 3)}, (None,))
        return made

    ours = model()
    optimizer = FusedAdam(0.001)
    weights = [weight.value for weight in ours.trainable_variables]
    optimizer.build(ours.trainable_variables)

    @tf.function(autograph=False)
    def step(images, labels):
        with tf.GradientTape() as tape:
            logits, _ = ours({"photo": images}, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        optimizer.apply(tape.gradient(loss, weights), ours.trainable_variables)
        return loss

    plain = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            keras.layers.Rescaling(1 / 127.5, -1.0),
            OWN_NETWORKS["residual"](),
            keras.layers.Dense(256),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(CLASSES),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    plain.compile(keras.optimizers.Adam(0.001), loss)

    def our_steps() -> int:
        for _ in range(4):
            step(tf.constant(images), tf.constant(labels))
        return 4 * len(images)

    def plain_steps() -> int:
        for _ in range(4):
            plain.train_on_batch(images, labels)
        return 4 * len(images)

    taking_turns({"pairloom": our_steps, "plain Keras": plain_steps}, rounds)


def memory(counts: list[int]) -> None:
    """The most memory that a process takes for so many rows."""
    for count in counts:
        found = subprocess.run(
            [sys.executable, __file__, "memory-of", "--counts", str(count)],
            check=True,
            capture_output=True,
            text=True,
        )
        print(f"{count:,} images: {found.stdout.strip().splitlines()[-1]}", flush=True)


def memory_of(count: int) -> None:
    """Runs the nodes up to Transform in this process."""
    from tfx.components import SchemaGen, StatisticsGen
    from tfx.orchestration import metadata, pipeline
    from tfx.orchestration.local import local_dag_runner

    from pairloom.components.learner.component import FieldLearner
    from pairloom.components.pairs.component import PairExamples
    from pairloom.components.transform.component import FieldTransform

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(FILES):
            (folder / f"{number}.jpg").write_bytes(photo(number, (SIDE, SIDE)))
        rows = (f"{number % FILES}.jpg\tlabel {number % CLASSES}\n" for number in range(count))
        (folder / "rows.tsv").write_text("".join(rows))
        split = {"eval": 0.1, "test": 0.1}
        data = {"format": "tsv", "folder": name, "train": "rows.tsv", "split": split}
        image = {"kind": "image", "height": SIDE, "width": SIDE, "most_bytes": 2**24}
        fields = json.dumps({"photo": {**image, "most_pixels": 10**6}, "label": {"kind": "label"}})
        examples = PairExamples(data=json.dumps(data), fields=fields, output="label")
        statistics_of = StatisticsGen(examples=examples.outputs["examples"])
        schema = SchemaGen(statistics=statistics_of.outputs["statistics"])
        learner = FieldLearner(
            examples=examples.outputs["examples"], fields=fields, vocabularies="{}"
        )
        transform = FieldTransform(
            examples=examples.outputs["examples"],
            schema=schema.outputs["schema"],
            learned=learner.outputs["learned"],
        )
        told = []
        for nodes in ([examples], [examples, statistics_of], None):
            chosen = nodes or [examples, statistics_of, schema, learner, transform]
            start = time.time()
            local_dag_runner.LocalDagRunner().run(
                pipeline.Pipeline(
                    "images",
                    str(folder / "root"),
                    components=chosen,
                    enable_cache=True,
                    metadata_connection_config=metadata.sqlite_metadata_connection_config(
                        str(folder / "mlmd.sqlite")
                    ),
                )
            )
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            told.append(f"{peak:.2f} GB after {chosen[-1].id} ({time.time() - start:.0f} s)")
    print(", ".join(told))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("decode", "train", "memory", "memory-of"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--counts", type=int, nargs="+", default=[1_000, 50_000])
    given = parser.parse_args()
    if given.what == "decode":
        decode(given.rounds)
    elif given.what == "train":
        train(given.rounds)
    elif given.what == "memory":
        memory(given.counts)
    else:
        memory_of(given.counts[0])


if __name__ == "__main__":
    main()
