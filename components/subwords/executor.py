"""SubwordLearner at work: count, learn, write."""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

import apache_beam as beam
import tensorflow as tf
from absl import logging
from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils

from pairloom.components.kinds import find_kind
from pairloom.components.subwords.counting import CountWords, read_counts
from pairloom.components.subwords.learning import LearnedModel, learn_subwords

__all__ = ["DEFAULT", "Executor", "vocabularies_of"]

DEFAULT = {"method": "bpe", "size": 8000}
COUNTS = ".counts"


def vocabularies_of(fields: Mapping[str, Any]) -> dict[str, str]:
    """Field to vocabulary, for each field that has one; by default named after the field."""
    found = {
        name: field.get("vocabulary") or name
        for name, field in fields.items()
        if find_kind(field.get("kind", "text")).tokenized
    }
    for vocabulary in found.values():
        if os.path.basename(vocabulary) != vocabulary:
            raise ValueError(
                f"A vocabulary's name must do as a file name. Received: {vocabulary!r}."
            )
    return found


class Executor(base_beam_executor.BaseBeamExecutor):
    """Learns the vocabularies of all text fields from the train split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        self._log_startup(input_dict, output_dict, exec_properties)
        fields = json.loads(exec_properties["fields"])
        settings = json.loads(exec_properties["vocabularies"])
        vocabularies = vocabularies_of(fields)
        folder = artifact_utils.get_single_uri(output_dict["subwords"])
        counts_folder = os.path.join(folder, COUNTS)
        tf.io.gfile.makedirs(counts_folder)
        paths = sorted(
            path
            for uri in artifact_utils.get_split_uris(input_dict["examples"], "train")
            for path in tf.io.gfile.glob(os.path.join(uri, "*"))
        )
        kinds = {name: fields[name].get("kind", "text") for name in vocabularies}
        with self._make_beam_pipeline() as pipeline:
            _ = (
                pipeline
                | "Files" >> beam.Create(paths, reshuffle=False)
                | "CountWords" >> CountWords(vocabularies, kinds, counts_folder)
            )
        summary = {}
        for vocabulary in sorted(set(vocabularies.values())):
            asked = {**DEFAULT, **(settings.get(vocabulary) or {})}
            counts = read_counts(counts_folder, vocabulary)
            learned = learn_subwords(counts, asked["method"], int(asked["size"]))
            _write(os.path.join(folder, f"{vocabulary}.model"), learned.model)
            summary[vocabulary] = {**_described(learned), "words": len(counts)}
            if learned.short:
                logging.warning(
                    "Vocabulary `%s`: the data allow only %d of the %d subwords asked for.",
                    vocabulary,
                    learned.got,
                    learned.asked,
                )
        tf.io.gfile.rmtree(counts_folder)
        _write(os.path.join(folder, "vocabularies.json"), json.dumps(vocabularies).encode())
        _write(os.path.join(folder, "summary.json"), json.dumps(summary, indent=1).encode())


def _described(learned: LearnedModel) -> dict[str, Any]:
    described = dataclasses.asdict(learned)
    del described["model"]
    return {**described, "short": learned.short}


def _write(path: str, content: bytes) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(content)
