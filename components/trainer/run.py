"""What TFX's Trainer calls."""

import dataclasses
import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_transform as tft

from pairloom.components.evaluator.buckets import bucket_labels
from pairloom.components.trainer.batches import Pairs, row_by_row
from pairloom.components.trainer.checkpoint_folders import (
    at_work,
    checkpoint_folders,
    drop_other_checkpoints,
)
from pairloom.components.trainer.devices import choose_strategy, reserve_devices
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.precision import precision_of
from pairloom.components.trainer.progress import remark
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.components.trainer.watching import Watch
from pairloom.kinds import kind_of
from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.learned import read_fields
from pairloom.models import EncoderDecoder
from pairloom.models.encoder_decoder import DECODERS, ENCODERS
from pairloom.models.ensemble import Ensemble
from pairloom.serving.export import LengthBuckets, ServedModel, export_model

_SAMPLED_PAIRS = 500
_TRAINED_BY = ("fields", "inputs", "output", "model", "training", "files")


def run_fn(fn_args: Any) -> None:
    """Trains on the transformed examples and writes the SavedModel where TFX wants it.

    Args:
        fn_args: TFX's `FnArgs`; `custom_config` holds the recipe's `name`, its sections `fields`,
            `inputs`, `output`, `model`, `training`, `search`, `evaluation`, `longest`, the
            characters that a text may have, and `checkpoints`, a folder.
    """
    config = fn_args.custom_config
    settings = TrainingSettings.from_mapping(config["training"])
    reserve_devices(settings.devices)
    members = config["model"].get("ensemble", 1)
    training, run = _fingerprint(fn_args, config), _execution(fn_args)
    folders = checkpoint_folders(config["checkpoints"], training, run, members)
    # Before a device is used: whoever is at work already may need all of it.
    with at_work(folders):
        _train(fn_args, settings, folders)


def _train(fn_args: Any, settings: TrainingSettings, folders: Sequence[str]) -> None:
    """Trains a model in each folder of checkpoints, and writes the SavedModel of all."""
    config = fn_args.custom_config
    # Before all else: seeding clears TensorFlow's caches, and with them a tokenizer made before.
    keras.utils.set_random_seed(settings.seed)
    graphs = read_fields(tf.io.gfile.join(fn_args.transform_output, "learned"))
    kinds = {name: kind_of(config["fields"][name]) for name in graphs}
    inputs = {name: graphs[name] for name in config["inputs"]}
    target = graphs[config["output"]]
    output = kinds[target.field].part("output").Output(target, config.get("search") or {})
    spec = tft.TFTransformOutput(fn_args.transform_output).transformed_feature_spec()
    told = settings.supervised
    extras = {told.field: graphs[told.field]} if told and told.weight else {}
    train_pairs, eval_pairs = (
        Pairs(files, spec, inputs, target, output.column, extras)
        for files in (fn_args.train_files, fn_args.eval_files)
    )

    precision = precision_of(settings.precision)
    remark(precision.words)
    keras.config.set_dtype_policy(precision.policy)
    try:
        strategy = choose_strategy(settings.devices)
        with strategy.scope():
            members = []
            for number in range(len(folders)):
                if number:
                    # What Keras draws first weights from; the first member's is set already.
                    random.seed(settings.seed + number)
                members.append(build_model(config["model"], inputs, target))
        metric = settings.early_stopping.metric
        for number, (member, place) in enumerate(zip(members, folders)):
            loop = TrainingLoop(
                member,
                output,
                member_settings(settings, number, len(members)),
                train_pairs,
                eval_pairs,
                place,
                strategy=strategy,
                watch=None if metric == "loss" else Watch(metric, member, output, eval_pairs),
                # Not TFX's folder for it: that is dropped with an execution that was stopped.
                log_folder=tf.io.gfile.join(place, "tensorboard"),
                part=f"model {number + 1} of {len(members)}" if len(members) > 1 else "",
            )
            loop.run()
        drop_other_checkpoints(folders)
        model = members[0] if len(members) == 1 else Ensemble(members)
        evaluation = config.get("evaluation", {})
        buckets = evaluation.get("length_buckets", ())
        served = ServedModel(
            model,
            inputs,
            output,
            kinds={name: kind.name for name, kind in kinds.items()},
            task=config.get("name", ""),
            answers=bool(evaluation.get("answers", True)),
            likelihood=bool(evaluation.get("likelihood")),
            alignment=graphs.get(evaluation.get("alignment")),
            buckets=LengthBuckets(buckets, bucket_labels(buckets)),
            longest=config.get("longest", 0),
        )
        export_model(served, fn_args.serving_model_dir, sample_pairs(eval_pairs))
    finally:
        keras.config.set_dtype_policy("float32")


def member_settings(settings: TrainingSettings, number: int, members: int) -> TrainingSettings:
    """What one of several models is trained by: its own seed, and its share of the minutes."""
    return dataclasses.replace(
        settings, seed=settings.seed + number, minutes=settings.minutes / members
    )


def build_model(
    model: Mapping[str, Any], inputs: Mapping[str, FieldGraph], target: FieldGraph
) -> EncoderDecoder:
    """The model that a recipe's `model` section describes, with its weights made.

    Args:
        model: The section, with an entry of `encoders` for each input.
        inputs: The input fields.
        target: The output field.
    """

    def sized(part: Mapping[str, Any], known: Mapping[str, Any], graph: FieldGraph):
        """The part's settings with how much of the field there is, where it asks for that."""
        name = getattr(known[part["type"]], "sized", "")
        return {**part, **({name: graph.size} if name else {})}

    built = EncoderDecoder(
        {name: sized(model["encoders"][name], ENCODERS, inputs[name]) for name in inputs},
        sized(model["decoder"], DECODERS, target),
        join=model.get("join") if len(inputs) > 1 else None,
        tied=model.get("tied", "none"),
    )
    shapes = {name: tuple(graph.tensor_spec().shape) for name, graph in inputs.items()}
    built.build(shapes, tuple(target.tensor_spec().shape))
    for name, encoder in built.encoders.items():
        _start_embedding(encoder, inputs[name])
    _start_embedding(built.decoder, target)
    return built


def _start_embedding(part: Any, graph: FieldGraph) -> None:
    """Fills in what is known of a field's ids before training."""
    embedding: Any = getattr(part, "embedding", None)
    rows = graph.start(embedding.output_dim) if embedding is not None else {}
    if rows:
        table = embedding.embeddings.numpy()
        table[list(rows)] = np.stack(list(rows.values()))
        embedding.embeddings.assign(table)


def sample_pairs(pairs: Pairs) -> list[dict[str, Any]]:
    """A short, a middling and a long pair, for a server to warm up with.

    Returns:
        Each field's name to a value as it is served; fewer than three, or none, where there are
        fewer pairs.
    """
    chunk = next(pairs.chunks(), None)
    if chunk is None or not len(chunk):
        return []
    by_length = np.argsort(chunk.longest()[:_SAMPLED_PAIRS], kind="stable")
    rows = by_length[sorted({0, len(by_length) // 2, len(by_length) - 1})]
    inputs, targets = chunk.batch(rows)
    inputs = row_by_row(inputs)
    values = {name: graph.values(inputs[name]).numpy() for name, graph in pairs.inputs.items()}
    values.setdefault(pairs.output.field, pairs.output.values(targets).numpy())
    return [
        {
            name: column[row].tolist() if column.ndim > 1 else column[row]
            for name, column in values.items()
        }
        for row in range(len(rows))
    ]


def _fingerprint(fn_args: Any, config: Mapping[str, Any]) -> str:
    """Names the folder of checkpoints: only the same training may go on from them.

    How many members an ensemble has is of no account: each has a folder of its own.
    """
    settings = {name: config.get(name) for name in _TRAINED_BY}
    settings["model"] = {**config["model"], "ensemble": 1}
    told: Sequence[Any] = [
        settings,
        sorted(fn_args.train_files),
        fn_args.transform_output,
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _execution(fn_args: Any) -> str:
    """Names the execution of this run's Trainer, as the folder of the model that it makes does."""
    return os.path.basename(os.path.dirname(fn_args.serving_model_dir.rstrip("/")))
