"""OpenNMT-tf's side of the comparisons; runs in an environment of its own.

    pip install 'OpenNMT-tf[tensorflow]==2.32.0'            # Python 3.10, a fresh environment
    python opennmt_side.py train MODEL FOLDER STEPS       # prints target tokens a second
    python opennmt_side.py learn MODEL FOLDER STEPS       # trains and keeps the weights in FOLDER
    python opennmt_side.py decode MODEL FOLDER BEAM LENGTH STREAMS  # prints sentences a second

MODEL is `recurrent` or `transformer`. With LENGTH 0 decoding takes the weights that `learn` kept
and ends where they say. With one stream, batches come one after another and each may use all cores;
with more, so many processes decode a share of them, each on one core (two calls at once in one
process end it: "free(): invalid pointer").

FOLDER holds `vocabulary.txt`, `train.source`, `train.target`, `test.source`, `test.target`, all of
them subwords with spaces between, as `comparison.py` writes them.
"""

import json
import multiprocessing
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import opennmt
import tensorflow as tf
import tensorflow_addons as tfa

UNITS = 256
BATCH = 64


def make_recurrent(folder):
    """The model of the comparison: bi-GRU, GRU, additive attention, input feeding."""

    def inputter():
        return opennmt.inputters.WordEmbedder(embedding_size=UNITS)

    model = opennmt.models.SequenceToSequence(
        source_inputter=inputter(),
        target_inputter=inputter(),
        encoder=opennmt.encoders.RNNEncoder(
            1, UNITS, bidirectional=True, dropout=0.0, cell_class=keras.layers.GRUCell
        ),
        decoder=opennmt.decoders.AttentionalRNNDecoder(
            1,
            UNITS,
            bridge_class=opennmt.layers.DenseBridge,
            attention_mechanism_class=tfa.seq2seq.BahdanauAttention,
            cell_class=keras.layers.GRUCell,
            dropout=0.0,
        ),
    )
    return initialized(model, folder)


def make_transformer(folder):
    """A Transformer of the size of recipes/multi30k-en-de-transformer.yaml."""

    def inputter():
        return opennmt.inputters.WordEmbedder(embedding_size=UNITS)

    model = opennmt.models.Transformer(
        inputter(),
        inputter(),
        num_layers=3,
        num_units=UNITS,
        num_heads=4,
        ffn_inner_dim=1024,
        share_embeddings=opennmt.models.EmbeddingsSharingLevel.ALL,
    )
    return initialized(model, folder)


def initialized(model, folder):
    """The model with its vocabularies and variables."""
    vocabulary = os.path.join(folder, "vocabulary.txt")
    model.initialize({"source_vocabulary": vocabulary, "target_vocabulary": vocabulary})
    model.create_variables()
    return model


def kept(kind, model, folder):
    """The file of a model's weights."""
    return tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model), os.path.join(folder, f"opennmt-{kind}"), max_to_keep=1
    )


def learn(kind, folder, steps):
    """Trains and keeps the weights."""
    model = MODELS[kind](folder)
    manager = kept(kind, model, folder)
    if not manager.latest_checkpoint:
        take_steps(model, folder, steps)
        manager.save()
    print("{}")


def train(kind, folder, steps):
    """Times training steps after the first ten."""
    rate = take_steps(MODELS[kind](folder), folder, steps)
    print(json.dumps({"tokens_per_second": rate}))


def take_steps(model, folder, steps):
    """Target tokens a second."""
    dataset = model.examples_inputter.make_training_dataset(
        os.path.join(folder, "train.source"),
        os.path.join(folder, "train.target"),
        batch_size=BATCH,
        length_bucket_width=1,
        maximum_features_length=100,
        maximum_labels_length=100,
        shuffle_buffer_size=30000,
    )
    # A warm-up of a few hundred steps: a Transformer learns nothing without one.
    rate = keras.optimizers.schedules.PolynomialDecay(1e-5, 400, 1e-3)
    optimizer = keras.optimizers.Adam(rate if is_transformer(model) else 0.001)

    @tf.function(input_signature=dataset.element_spec)
    def step(features, labels):
        with tf.GradientTape() as tape:
            outputs, _ = model(features, labels, training=True)
            loss, _, tokens = model.compute_loss(outputs, labels, training=True)
            loss /= tf.cast(tokens, loss.dtype)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return tokens

    tokens = seconds = 0.0
    for number, (features, labels) in enumerate(dataset.repeat().take(steps + 10)):
        started = time.perf_counter()
        count = float(step(features, labels))
        if number >= 10:
            seconds += time.perf_counter() - started
            tokens += count
    return tokens / seconds


def is_transformer(model):
    """Whether it is one of the two models here."""
    return isinstance(model, opennmt.models.Transformer)


def decode(kind, folder, beam, length, streams):
    """Times the whole test set, after a first batch that traces."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(streams), context.Queue()
    shared = (kind, folder, beam, length, streams, ready, results)
    workers = [context.Process(target=decode_share, args=(n, *shared)) for n in range(streams)]
    for worker in workers:
        worker.start()
    begun, ended, sentences, tokens = zip(*(results.get() for _ in workers))
    for worker in workers:
        worker.join()
    rate = sum(sentences) / (max(ended) - min(begun))
    print(json.dumps({"sentences_per_second": rate, "length": sum(tokens) / sum(sentences)}))


def decode_share(number, kind, folder, beam, length, streams, ready, results):
    """Decodes every `streams`-th batch, batch by batch."""
    if streams > 1:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    model = MODELS[kind](folder)
    model.params = {
        "beam_width": beam,
        "length_penalty": 0.6,
        "minimum_decoding_length": length,
        "maximum_decoding_length": length or 100,
    }
    if not length:
        manager = kept(kind, model, folder)
        manager.checkpoint.restore(manager.latest_checkpoint).expect_partial()
    dataset = model.features_inputter.make_inference_dataset(
        os.path.join(folder, "test.source"), batch_size=BATCH, length_bucket_width=5
    )

    @tf.function(input_signature=[dataset.element_spec])
    def infer(features):
        _, predictions = model(features)
        return predictions["length"]

    batches = list(dataset)[number::streams]
    infer(batches[0])
    ready.wait()
    begun = time.monotonic()
    lengths = [infer(features).numpy() for features in batches]
    ended = time.monotonic()
    tokens = sum(int(found[:, 0].sum()) for found in lengths)
    results.put((begun, ended, sum(map(len, lengths)), tokens))


MODELS = {"recurrent": make_recurrent, "transformer": make_transformer}

if __name__ == "__main__":
    action, kind, where, *numbers = sys.argv[1:]
    {"train": train, "learn": learn, "decode": decode}[action](kind, where, *map(int, numbers))
