"""Which examples are evaluated, and in what batches the model gets them."""

import hashlib
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindows
from tensorflow_model_analysis import constants
from tfx_bsl.arrow import table_util

# So many batches are gathered before they are cut by length.
_BUFFERED_BATCHES = 32

Row = tuple[bytes, pa.RecordBatch]


class EvenBatches(beam.PTransform):
    """Recuts TFMA's record batches into full ones of examples of similar length.

    TFX lets Beam tune the batches by time, from 1 to 1,000 examples. A decoder wants neither: it
    runs until the longest answer of a batch is complete, so a batch is of one size, and of
    neighbours in length.

    Args:
        batch_size: Examples in a batch; the last one may be smaller.
        at_most: Let so many examples through; 0 is all. They are chosen by a hash of their content:
            the same ones whatever their order and the number of workers.
    """

    def __init__(self, batch_size: int, at_most: int = 0) -> None:
        super().__init__()
        if batch_size < 1 or at_most < 0:
            raise ValueError(
                "`batch_size` must be at least 1 and `at_most` at least 0. "
                f"Received: batch_size={batch_size}, at_most={at_most}."
            )
        self._batch_size = batch_size
        self._at_most = at_most

    def expand(self, pcoll: beam.PCollection) -> beam.PCollection:
        """Extracts with a record batch in, extracts with a record batch out."""
        rows = pcoll | "Rows" >> beam.FlatMap(_rows)
        if self._at_most:
            rows = (
                rows
                | "Choose" >> beam.combiners.Top.Of(self._at_most, key=_digest, reverse=True)
                | "Chosen" >> beam.FlatMap(lambda chosen: chosen)
            )
        return rows | "Batch" >> beam.ParDo(_Batch(self._batch_size))


class _Batch(beam.DoFn):
    """Gathers rows, and gives them out in batches of neighbours in length."""

    def __init__(self, batch_size: int) -> None:
        self._batch_size = batch_size
        self._rows: list[Row] = []

    def start_bundle(self) -> None:
        self._rows = []

    def process(self, row: Row) -> Iterator[dict[str, Any]]:
        self._rows.append(row)
        if len(self._rows) == self._batch_size * _BUFFERED_BATCHES:
            yield from self._batches()

    def finish_bundle(self) -> Iterator[Any]:
        for batch in self._batches():
            yield GlobalWindows.windowed_value(batch)

    def _batches(self) -> Iterator[dict[str, Any]]:
        rows, self._rows = self._rows, []
        rows.sort(key=lambda row: len(row[0]))
        for start in range(0, len(rows), self._batch_size):
            parts = [part for _, part in rows[start : start + self._batch_size]]
            yield {constants.ARROW_RECORD_BATCH_KEY: table_util.MergeRecordBatches(parts)}


def _rows(extracts: dict[str, Any]) -> Iterator[Row]:
    """Cuts a record batch into its examples, each with its serialized form."""
    batch = extracts[constants.ARROW_RECORD_BATCH_KEY]
    serialized = batch.column(batch.schema.get_field_index(constants.ARROW_INPUT_COLUMN)).flatten()
    for index, example in enumerate(serialized):
        yield example.as_py(), batch.slice(index, 1)


def _digest(row: Row) -> bytes:
    return hashlib.blake2b(row[0], digest_size=16).digest()
