"""PairExamples at work: plan, read and write, judge."""

import os
from typing import Any

import apache_beam as beam
import tensorflow as tf
from tfx import types
from tfx.components.util import examples_utils
from tfx.dsl.components.base import base_beam_executor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils

from pairloom.components.pairs.driver import FINGERPRINT, digest_of
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.settings import SPLITS, PairSettings
from pairloom.components.pairs.settling import settle
from pairloom.components.pairs.summary import SUMMARY_FILE, judge, read_summary
from pairloom.components.pairs.writing import PARTIAL, WriteChunks

__all__ = ["Executor"]


class Executor(base_beam_executor.BaseBeamExecutor):
    """Writes the examples of a recipe's files."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        self._log_startup(input_dict, output_dict, exec_properties)
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        rejected = artifact_utils.get_single_instance(output_dict["rejected"])
        names = ("data", "fields", "output", "inputs")
        data, fields, output, inputs = (exec_properties.get(name) or "" for name in names)
        settings = settle(PairSettings.from_sections(data, fields, output, inputs))
        sections = (data, settings.fields_section, output, inputs)
        chunks = plan_chunks(settings)

        examples.split_names = artifact_utils.encode_split_names(list(SPLITS))
        folders = {split: artifact_utils.get_split_uri([examples], split) for split in SPLITS}
        for folder in (*folders.values(), rejected.uri):
            tf.io.gfile.makedirs(folder)
        summary_path = os.path.join(examples.uri, SUMMARY_FILE)
        with self._make_beam_pipeline() as pipeline:
            _ = (
                pipeline
                | "Chunks" >> beam.Create(chunks, reshuffle=False)
                | "WriteChunks" >> WriteChunks(sections, folders, rejected.uri, summary_path)
            )
        partial = os.path.join(rejected.uri, PARTIAL)
        if tf.io.gfile.exists(partial):
            tf.io.gfile.rmtree(partial)
        _check_unchanged(settings, exec_properties.get(FINGERPRINT))

        summary = read_summary(examples.uri)
        try:
            judge(summary, settings, rejected_at=_kept_after_failure(rejected.uri))
        except DataError:
            _keep(rejected.uri)
            raise
        examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
        examples_utils.set_file_format(examples, "tfrecords_gzip")
        for split in SPLITS:
            examples.set_int_custom_property(f"{split}_pairs", summary.splits[split])
        examples.set_int_custom_property("rejected_rows", summary.rejected)
        examples.set_int_custom_property("left_out_rows", summary.left_out)


def _check_unchanged(settings: PairSettings, noted: str | None) -> None:
    """Makes sure that what was read is what the driver saw, by which the cache will know it."""
    if noted is not None and digest_of(settings) != noted:
        raise DataError(
            "Expected data that stay as they are while they are read. Received: files that were "
            "changed, added or taken away meanwhile. Wait until they are complete, and run the "
            "same command again."
        )


def _kept_after_failure(rejected_uri: str) -> str:
    """Where rejected rows stay when TFX has taken the outputs of a failed run away."""
    outputs, execution = os.path.split(rejected_uri.rstrip("/"))
    return os.path.join(os.path.dirname(outputs), "rejected_by_failed_runs", execution)


def _keep(rejected_uri: str) -> None:
    kept = _kept_after_failure(rejected_uri)
    tf.io.gfile.makedirs(kept)
    for path in tf.io.gfile.glob(os.path.join(rejected_uri, "rejected-*.jsonl")):
        tf.io.gfile.copy(path, os.path.join(kept, os.path.basename(path)), overwrite=True)
