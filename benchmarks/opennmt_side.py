"""OpenNMT-tf's side of the comparisons; runs in an environment of its own.

    pip install 'OpenNMT-tf[tensorflow]==2.32.0'      # Python 3.10, a fresh environment
    python opennmt_side.py train FOLDER STEPS 0       # prints target tokens a second
    python opennmt_side.py learn FOLDER STEPS 0       # trains and keeps the weights in FOLDER
    python opennmt_side.py decode FOLDER BEAM LENGTH  # prints sentences a second

With LENGTH 0 decoding takes the weights that `learn` kept and ends where they say. FOLDER holds
`vocabulary.txt`, `train.source`, `train.target`, `test.source`, `test.target`, all of them subwords
with spaces between, as `comparison.py` writes them.
"""

import json
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


def make_model(folder):
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


def kept(model, folder):
    """The file of a model's weights."""
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(model=model), os.path.join(folder, "opennmt"), max_to_keep=1
    )
    return manager


def learn(folder, steps, _):
    """Trains and keeps the weights."""
    model = make_model(folder)
    if not kept(model, folder).latest_checkpoint:
        take_steps(model, folder, steps)
        kept(model, folder).save()
    print("{}")


def train(folder, steps, _):
    """Times training steps after the first ten."""
    rate = take_steps(make_model(folder), folder, steps)
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
    optimizer = keras.optimizers.Adam(0.001)

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


def decode_transformer(folder, beam, length):
    """Times an untrained Transformer whose sentences all have one length."""
    decode(folder, beam, length, make_transformer(folder))


def decode(folder, beam, length, model=None):
    """Times the whole test set, batch by batch, after a first pass that traces."""
    model = model or make_model(folder)
    model.params = {
        "beam_width": beam,
        "length_penalty": 0.6,
        "minimum_decoding_length": length,
        "maximum_decoding_length": length or 100,
    }
    if not length:
        manager = kept(model, folder)
        manager.checkpoint.restore(manager.latest_checkpoint).expect_partial()
    dataset = model.features_inputter.make_inference_dataset(
        os.path.join(folder, "test.source"), batch_size=BATCH, length_bucket_width=5
    )

    @tf.function(input_signature=[dataset.element_spec])
    def infer(features):
        _, predictions = model(features)
        return predictions["length"]

    for _ in range(2):
        seconds, sentences, tokens = 0.0, 0, 0
        for features in dataset:
            started = time.perf_counter()
            lengths = infer(features).numpy()
            seconds += time.perf_counter() - started
            sentences += int(features["length"].shape[0])
            tokens += int(lengths[:, 0].sum())
    print(json.dumps({"sentences_per_second": sentences / seconds, "length": tokens / sentences}))


if __name__ == "__main__":
    action, where, number, length = sys.argv[1:]
    actions = {
        "train": train,
        "learn": learn,
        "decode": decode,
        "decode-transformer": decode_transformer,
    }
    actions[action](where, int(number), int(length))
