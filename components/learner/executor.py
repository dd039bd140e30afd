"""FieldLearner at work: count, learn, write."""

import json
import os
from typing import Any

import apache_beam as beam
import tensorflow as tf
from absl import logging
from tfx import types
from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils

from pairloom.components.learner.counting import CountValues, learned_names, read_counts
from pairloom.components.pairs.errors import DataError
from pairloom.kinds import kind_of
from pairloom.kinds.learned import write_fields

__all__ = ["Executor"]

COUNTS = ".counts"


class Executor(base_beam_executor.BaseBeamExecutor):
    """Learns what the kinds of all fields need from the train split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        self._log_startup(input_dict, output_dict, exec_properties)
        fields = json.loads(exec_properties["fields"])
        settings = json.loads(exec_properties["vocabularies"])
        folder = artifact_utils.get_single_uri(output_dict["learned"])
        counts_folder = os.path.join(folder, COUNTS)
        tf.io.gfile.makedirs(counts_folder)
        paths = sorted(
            path
            for uri in artifact_utils.get_split_uris(input_dict["examples"], "train")
            for path in tf.io.gfile.glob(os.path.join(uri, "*"))
        )
        with self._make_beam_pipeline() as pipeline:
            _ = (
                pipeline
                | "Files" >> beam.Create(paths, reshuffle=False)
                | "CountValues" >> CountValues(fields, counts_folder)
            )
        learned, summary = {}, {}
        names = learned_names(fields)
        for field, name in names.items():
            if name in learned:
                continue
            learn = kind_of(fields[field]).part("learning").learn
            try:
                learned[name], summary[name] = learn(
                    read_counts(counts_folder, name), settings.get(name) or {}
                )
            except ValueError as error:
                raise DataError(f"The field `{field}` cannot be learned from. {error}") from error
            if "warning" in summary[name]:
                logging.warning("`%s`: %s.", name, summary[name]["warning"])
        tf.io.gfile.rmtree(counts_folder)
        write_fields(folder, fields, names, learned)
        with tf.io.gfile.GFile(os.path.join(folder, "summary.json"), "w") as file:
            file.write(json.dumps(summary, indent=1))
