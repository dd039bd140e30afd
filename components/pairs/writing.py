"""Chunks to shards: the Beam part of PairExamples.

An element is a chunk, not a row, and each chunk writes its own files. So Beam's cost is paid once
for thousands of rows, the order of rows is that of the input, and the same data give the same
files, however many workers there are and whichever of them fail and are tried again.
"""

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import tensorflow as tf

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.overlap import Digests, PairDigests, count_overlap
from pairloom.components.pairs.proving import Prover
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Chunk, LeftOut, Pair, Rejection
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.summary import PairsSummary, merge_summaries

__all__ = ["WriteChunks", "pair_example"]

PARTIAL = ".partial"
DIGESTS = "digests"


def pair_example(pair: Pair, settings: PairSettings) -> bytes:
    """A pair as a serialized `tf.train.Example`: one feature a field, named after it."""
    example = tf.train.Example()
    features = example.features.feature
    for name, kind, value in zip(settings.fields, settings.kinds, pair.values, strict=True):
        kind.store(value, features[name])
    # Deterministic: else the order of the features differs from process to process.
    return example.SerializeToString(deterministic=True)


class _Shards:
    """The files that one chunk writes, unseen until they are whole."""

    def __init__(self, examples: Mapping[str, str], rejected: str, number: int):
        self._examples, self._rejected, self._number = examples, rejected, number
        self._partial = os.path.join(rejected, PARTIAL, uuid.uuid4().hex)
        self._records: dict[str, tf.io.TFRecordWriter] = {}
        self._rows: tf.io.gfile.GFile | None = None
        tf.io.gfile.makedirs(self._partial)

    def write(self, split: str, record: bytes) -> None:
        if split not in self._records:
            options = tf.io.TFRecordOptions(compression_type="GZIP", compression_level=1)
            path = os.path.join(self._partial, split)
            self._records[split] = tf.io.TFRecordWriter(path, options)
        self._records[split].write(record)

    def reject(self, row: Rejection) -> None:
        if self._rows is None:
            self._rows = tf.io.gfile.GFile(os.path.join(self._partial, "rejected"), "w")
        self._rows.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")

    def publish(self) -> None:
        """Closes the files and gives them their names."""
        names = {
            split: os.path.join(self._examples[split], f"data_tfrecord-{self._number:05}.gz")
            for split in self._records
        }
        for writer in self._records.values():
            writer.close()
        if self._rows is not None:
            self._rows.close()
            names["rejected"] = os.path.join(self._rejected, f"rejected-{self._number:05}.jsonl")
        for partial, final in names.items():
            tf.io.gfile.makedirs(os.path.dirname(final))
            tf.io.gfile.rename(os.path.join(self._partial, partial), final, overwrite=True)
        tf.io.gfile.rmtree(self._partial)


class _WriteChunk(beam.DoFn):
    def __init__(self, sections: tuple[str, ...], examples: Mapping[str, str], rejected: str):
        self._sections, self._examples, self._rejected = sections, dict(examples), rejected

    def setup(self) -> None:
        self._settings = PairSettings.from_sections(*self._sections)
        self._proved = Prover(self._settings)

    def process(self, chunk: Chunk) -> Iterator[Any]:
        """Gives number and summary of a chunk, and, tagged, the digests of its pairs."""
        summary, digests = PairsSummary(), PairDigests(self._settings)
        shards = _Shards(self._examples, self._rejected, chunk.number)
        try:
            for item in read_pairs(chunk, self._settings):
                if isinstance(item, Pair):
                    item = self._proved(item)
                summary.add(item, self._settings)
                if isinstance(item, Rejection):
                    shards.reject(item)
                elif not isinstance(item, LeftOut):
                    shards.write(item.split, pair_example(item, self._settings))
                    digests.add(item)
        except DataError as error:
            # Told at the end, by the component: a runner would wrap it in a traceback of its own.
            summary.problems.append(str(error))
        shards.publish()
        yield chunk.number, summary
        for heap in digests.heaps():
            yield beam.pvalue.TaggedOutput(DIGESTS, heap)


def _merge(numbered: list[tuple[int, PairsSummary]]) -> PairsSummary:
    return merge_summaries(summary for _, summary in sorted(numbered, key=lambda one: one[0]))


def _count_heap(heap: tuple[int, Iterable[Digests]]) -> tuple[int, int]:
    return count_overlap(heap[1])


def _write_summary(summary: PairsSummary, path: str, overlaps: Iterable[tuple[int, int]]) -> None:
    for equal, nearly in overlaps:
        summary.in_train += equal
        summary.nearly_in_train += nearly
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(summary.to_json())


class WriteChunks(beam.PTransform):
    """Reads chunks; writes examples by split, rejected rows, and the summary of all.

    Args:
        sections: The recipe's `data` and `fields` as JSON, the name of the output field, and the
            names of the inputs as JSON, where they are not all the others.
        examples: Split name to the folder of its TFRecord files.
        rejected: The folder of rejected rows.
        summary: The file to write the summary to, as JSON.
    """

    def __init__(
        self,
        sections: tuple[str, ...],
        examples: Mapping[str, str],
        rejected: str,
        summary: str,
    ):
        super().__init__()
        self._write = _WriteChunk(sections, examples, rejected)
        self._summary = summary

    def expand(self, chunks: beam.PCollection) -> beam.PCollection:
        summaries, digests = (
            chunks
            | "Spread" >> beam.Reshuffle()
            | "Write" >> beam.ParDo(self._write).with_outputs(DIGESTS, main="summaries")
        )
        overlaps = digests | "Heap" >> beam.GroupByKey() | "Overlap" >> beam.Map(_count_heap)
        return (
            summaries
            | "Gather" >> beam.combiners.ToList()
            | "Merge" >> beam.Map(_merge)
            | "WriteSummary"
            >> beam.Map(_write_summary, self._summary, beam.pvalue.AsIter(overlaps))
        )
