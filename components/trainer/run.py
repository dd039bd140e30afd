"""What TFX's Trainer calls."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_transform as tft

from pairloom.components.evaluator.buckets import bucket_labels
from pairloom.components.metrics import corpus_score
from pairloom.components.trainer.batches import Pairs, in_batches
from pairloom.components.trainer.devices import choose_strategy
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.models import EncoderDecoder, greedy_search
from pairloom.models.text.subwords import Subwords, read_subwords
from pairloom.serving.export import LengthBuckets, SearchSettings, ServedModel, export_model

_BLEU_PAIRS = 500
_SAMPLED_PAIRS = 500


def run_fn(fn_args: Any) -> None:
    """Trains on the transformed examples and writes the SavedModel where TFX wants it.

    Args:
        fn_args: TFX's `FnArgs`; `custom_config` holds the recipe's sections `fields`, `output`,
            `model`, `training`, `search`, `evaluation`, and `checkpoints`, a folder.
    """
    config = fn_args.custom_config
    settings = TrainingSettings.from_mapping(config["training"])
    # First of all: seeding clears TensorFlow's caches, and with them a tokenizer made before.
    keras.utils.set_random_seed(settings.seed)
    target = config["output"]
    (source,) = (field for field in config["fields"] if field != target)
    subwords = read_subwords(tf.io.gfile.join(fn_args.transform_output, "subwords"))
    spec = tft.TFTransformOutput(fn_args.transform_output).transformed_feature_spec()
    train_pairs = Pairs(fn_args.train_files, spec, source, target)
    eval_pairs = Pairs(fn_args.eval_files, spec, source, target)

    folder = tf.io.gfile.join(config["checkpoints"], _fingerprint(fn_args, config))
    keras.config.set_dtype_policy(settings.precision)
    try:
        strategy = choose_strategy(settings.devices)
        with strategy.scope():
            model = build_model(config["model"], subwords[source].size, subwords[target].size)
        loop = TrainingLoop(
            model,
            settings,
            train_pairs,
            eval_pairs,
            folder,
            strategy=strategy,
            bleu=lambda: greedy_bleu(model, eval_pairs, subwords[target]),
            # Not TFX's folder for it: that is dropped with an execution that was stopped.
            log_folder=tf.io.gfile.join(folder, "tensorboard"),
        )
        loop.run()
        drop_other_checkpoints(folder)
        buckets = config.get("evaluation", {}).get("length_buckets", ())
        served = ServedModel(
            model,
            subwords,
            source,
            target,
            SearchSettings(**config["search"]),
            LengthBuckets(buckets, bucket_labels(buckets)),
        )
        samples = sample_pairs(eval_pairs, subwords[source], subwords[target])
        export_model(served, fn_args.serving_model_dir, samples)
    finally:
        keras.config.set_dtype_policy("float32")


def build_model(model: Mapping[str, Any], source_size: int, target_size: int) -> EncoderDecoder:
    """The model that a recipe's `model` section describes, with its weights made."""

    def arguments(section: Mapping[str, Any]) -> dict[str, Any]:
        renamed = dict(section)
        # A Transformer's embedding is as wide as all of it.
        if "embedding" in renamed:
            renamed["embedding_units"] = renamed.pop("embedding")
        return renamed

    built = EncoderDecoder(
        source_size,
        target_size,
        encoder=arguments(model["encoder"]),
        decoder=arguments(model["decoder"]),
        tied=model["tied"],
    )
    built.build((None, None), (None, None))
    return built


def greedy_bleu(model: EncoderDecoder, pairs: Pairs, subwords: Subwords) -> float:
    """Corpus BLEU of greedy answers to the first pairs, which is near enough to choose weights."""

    @tf.function(reduce_retracing=True, autograph=False)
    def answer(source):
        found = greedy_search(model.decoder, model.encoder(source), max_length=100)
        return subwords.text(found.ids[:, 0])

    hypotheses: list[str] = []
    references: list[str] = []
    for source, target in in_batches(pairs, 2048, at_most=_BLEU_PAIRS):
        hypotheses += [text.decode(errors="replace") for text in answer(source).numpy()]
        references += [text.decode(errors="replace") for text in subwords.text(target).numpy()]
    return corpus_score("bleu", hypotheses, references)


def sample_pairs(
    pairs: Pairs, source_subwords: Subwords, target_subwords: Subwords
) -> list[tuple[str, str]]:
    """A short, a middling and a long pair, for a server to warm up with.

    Returns:
        `(source, target)` as text; fewer than three, or none, where there are fewer pairs.
    """
    chunk = next(pairs.chunks(), None)
    if chunk is None:
        return []
    by_length = np.argsort(chunk.lengths()[0][:_SAMPLED_PAIRS], kind="stable")
    rows = by_length[sorted({0, len(by_length) // 2, len(by_length) - 1})]
    texts = [
        [text.decode(errors="replace") for text in subwords.text(ids).numpy()]
        for subwords, ids in zip((source_subwords, target_subwords), chunk.batch(rows))
    ]
    return list(zip(*texts))


def drop_other_checkpoints(folder: str) -> None:
    """Deletes the weights of trainings beside `folder`, which has ended; their logs stay."""
    parent = os.path.dirname(folder)
    for other in tf.io.gfile.glob(tf.io.gfile.join(parent, "*")):
        if os.path.basename(other) != os.path.basename(folder):
            for name in ("last", "best"):
                weights = tf.io.gfile.join(other, name)
                if tf.io.gfile.exists(weights):
                    tf.io.gfile.rmtree(weights)


def _fingerprint(fn_args: Any, config: Mapping[str, Any]) -> str:
    """Names the folder of checkpoints: only the same training may go on from them."""
    told: Sequence[Any] = [
        {name: config[name] for name in ("fields", "output", "model", "training")},
        sorted(fn_args.train_files),
        fn_args.transform_output,
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
